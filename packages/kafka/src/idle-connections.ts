import { createRequire } from 'node:module';

/** Between two looks for requests without an answer; their limits are seconds. */
const TIMEOUT_CHECK_MS = 500;

type SentRequest = { requestTimeout: number; timeoutRequest(): void };

/** The library's own queue of one connection, as far as it is used here. */
export type RequestQueue = {
  pending: readonly unknown[];
  inflight: ReadonlyMap<number, SentRequest>;
  enforceRequestTimeout: boolean;
  isConnected(): boolean;
  destroy(): void;
  sendSocketRequest(request: SentRequest): void;
  scheduleCheckPendingRequests(): void;
  scheduleRequestTimeoutCheck(): void;
};

/** Queues of open connections; while there is none, there is no timer. */
const watched = new Set<RequestQueue>();
/** Of `performance.now()`. */
const sentAtMs = new WeakMap<SentRequest, number>();
let timer: NodeJS.Timeout | undefined;
let isDone = false;

/**
 * kafkajs 2.2.4 looks for waiting requests every millisecond for as long as a connection lives, also where none waits:
 * 830 wake-ups a second of a process that has nothing to do (https://github.com/tulios/kafkajs/issues/1704). Here it
 * looks while one waits: whatever joins the queue asks for a look, and so does every answer. Looks for requests
 * without an answer are half a second apart, not a tenth, and one timer makes them for all connections. They go by the
 * time that has passed: the library goes by the clock of the machine, which may be set while a request waits.
 */
export function restIdleConnections(): void {
  if (isDone) return;
  isDone = true;
  const { prototype } = requestQueueClass();
  const { scheduleCheckPendingRequests, sendSocketRequest, destroy } = prototype;
  prototype.scheduleCheckPendingRequests = function schedule() {
    if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
  };
  prototype.sendSocketRequest = function send(request) {
    sentAtMs.set(request, performance.now());
    sendSocketRequest.call(this, request);
  };
  prototype.scheduleRequestTimeoutCheck = function schedule() {
    if (!this.enforceRequestTimeout) return;
    this.destroy();
    watched.add(this);
    timer ??= setInterval(endUnanswered, TIMEOUT_CHECK_MS);
  };
  prototype.destroy = function end() {
    watched.delete(this);
    if (watched.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    destroy.call(this);
  };
}

/** It is no part of the library's interface, so a test holds the version against what is used of it. */
export function requestQueueClass(): { prototype: RequestQueue } & (new (
  options: object,
) => RequestQueue) {
  const load = createRequire(import.meta.url);
  return load('kafkajs/src/network/requestQueue/index.js') as ReturnType<typeof requestQueueClass>;
}

function endUnanswered(): void {
  const nowMs = performance.now();
  for (const queue of watched) {
    for (const request of queue.inflight.values()) {
      const waitedMs = nowMs - (sentAtMs.get(request) ?? nowMs);
      if (waitedMs > request.requestTimeout) request.timeoutRequest();
    }
    if (!queue.isConnected()) queue.destroy();
  }
}
