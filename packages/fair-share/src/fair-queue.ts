import { NoTurnError, type NoTurnReason } from './no-turn-error.ts';
import { observeQueue } from './observe-queue.ts';
import type { Share } from './share-of-places.ts';
import { createTurns } from './turns.ts';

export type FairQueue = {
  /**
   * Does the work when it has a place. What it throws is thrown; its place is free when it has ended.
   * @throws NoTurnError when it had no turn in time: the work never began
   */
  run<T>(account: string, work: () => Promise<T>, bounds?: WaitBounds): Promise<T>;
};

/** Of one wait, beside those of its queue; none of them ends work that has begun. */
export type WaitBounds = {
  signal?: AbortSignal | undefined;
  /** By `performance.now()`; work never begins at or after it. */
  beginBeforeMs?: number | undefined;
};

export type FairQueueOptions = {
  /** Label of its metrics. */
  name: string;
  /** Work that is under way at once. */
  places: number;
  /** How many of them an account may hold. */
  share: Share;
  /** Work of one account that may wait. */
  waitingMax: number;
  waitMsMax: number;
};

/** For the queues of calls: nobody with fewer requests in flight than this is refused (decision 272). */
export const WAITING_MAX = 1_000;

type Entry = { sinceMs: number; begin: () => void };

/**
 * Hands out places in equal turns by account. While one is free nothing waits, but for work of an account that holds
 * its share of them. Work goes on in the context of its own caller, not of the one whose end has made room for it.
 */
export function createFairQueue(options: FairQueueOptions): FairQueue {
  const turns = createTurns<Entry>(options.places, options.share);
  const observe = observeQueue(options.name);
  return { run };

  async function run<T>(
    account: string,
    work: () => Promise<T>,
    bounds: WaitBounds = {},
  ): Promise<T> {
    const arrivedMs = performance.now();
    requireInTime(bounds, arrivedMs);
    if (!turns.take(account)) await turnOf(account, bounds, arrivedMs);
    try {
      // A process that slept may be given its place too late.
      requireInTime(bounds, arrivedMs);
      return await observe.running(work, performance.now() - arrivedMs);
    } finally {
      for (const entry of turns.end(account)) entry.begin();
    }
  }

  /** Resolves when the place of another is handed on to this entry. */
  async function turnOf(account: string, bounds: WaitBounds, sinceMs: number): Promise<void> {
    const waiting = turns.waiting(account);
    if (waiting.size >= options.waitingMax) throw refuse('full', sinceMs - oldestOf(waiting));
    const { promise, resolve: begin, reject } = Promise.withResolvers<void>();
    const entry = { sinceMs, begin };
    const leave = (reason: NoTurnReason): void => {
      if (turns.leave(account, entry)) reject(refuse(reason, performance.now() - sinceMs));
    };
    const onAbort = (): void => leave('aborted');
    const { signal, beginBeforeMs = Number.POSITIVE_INFINITY } = bounds;
    const waitMs = Math.min(options.waitMsMax, beginBeforeMs - sinceMs);
    const timer = setTimeout(() => leave('late'), waitMs);
    signal?.addEventListener('abort', onAbort);
    turns.wait(account, entry);
    observe.waits(1);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      observe.waits(-1);
    }
  }

  function requireInTime({ signal, beginBeforeMs }: WaitBounds, arrivedMs: number): void {
    const nowMs = performance.now();
    if (signal?.aborted) throw refuse('aborted', nowMs - arrivedMs);
    if (beginBeforeMs !== undefined && nowMs >= beginBeforeMs) {
      throw refuse('late', nowMs - arrivedMs);
    }
  }

  function refuse(reason: NoTurnReason, retryAfterMs: number): NoTurnError {
    observe.refused(reason);
    return new NoTurnError(options.name, reason, retryAfterMs);
  }
}

function oldestOf(waiting: ReadonlySet<Entry>): number {
  for (const { sinceMs } of waiting) return sinceMs;
  return Number.POSITIVE_INFINITY;
}
