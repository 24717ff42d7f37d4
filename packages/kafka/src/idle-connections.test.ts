import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { restIdleConnections, requestQueueClass } from './idle-connections.ts';

restIdleConnections();

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const REQUEST_TIMEOUT_MS = 4_000;
const HOUR_MS = 3_600_000;
const SILENT = { debug: () => undefined };

type Library = InstanceType<ReturnType<typeof requestQueueClass>> & {
  push(request: object): void;
  fulfillRequest(answer: object): void;
  maybeThrottle(ms: number): void;
};

/** As the library makes one for each connection, with the ids of the requests that it has sent and given up. */
function openQueue(isConnected = (): boolean => true) {
  const sent: number[] = [];
  const failed: number[] = [];
  const Queue = requestQueueClass();
  const queue = new Queue({
    maxInFlightRequests: 1,
    requestTimeout: REQUEST_TIMEOUT_MS,
    enforceRequestTimeout: true,
    clientId: 'test',
    broker: 'test',
    logger: SILENT,
    isConnected,
  }) as Library;
  const push = (correlationId: number): void => {
    const entry = {
      correlationId,
      resolve: () => undefined,
      reject: () => failed.push(correlationId),
    };
    queue.push({ entry, expectResponse: true, sendRequest: () => sent.push(correlationId) });
  };
  const answer = (correlationId: number): void =>
    queue.fulfillRequest({ correlationId, payload: null, size: 0 });
  return { queue, sent, failed, push, answer };
}

test('a connection on which nothing waits has no timer', () => {
  const { push, answer, sent } = openQueue();
  push(1);
  answer(1);
  expect([sent, vi.getTimerCount()]).toEqual([[1], 0]);
});

test('a request that waits for another one is sent at its answer', () => {
  const { push, answer, sent } = openQueue();
  push(1);
  push(2);
  expect(sent).toEqual([1]);
  answer(1);
  expect(sent).toEqual([1, 2]);
});

test('a request that the broker has put off is sent when its time has come', async () => {
  const { queue, push, sent } = openQueue();
  queue.maybeThrottle(300);
  push(1);
  await vi.advanceTimersByTimeAsync(290);
  expect(sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(30);
  expect(sent).toEqual([1]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a request without an answer ends within half a second after its limit, and the next one is sent', async () => {
  const { queue, push, failed, sent } = openQueue();
  queue.scheduleRequestTimeoutCheck();
  push(1);
  push(2);
  await vi.advanceTimersByTimeAsync(REQUEST_TIMEOUT_MS);
  expect(failed).toEqual([]);
  await vi.advanceTimersByTimeAsync(510);
  expect([failed, sent]).toEqual([[1], [1, 2]]);
  queue.destroy();
});

test.each([
  { step: 'ahead', stepMs: HOUR_MS },
  { step: 'back', stepMs: -HOUR_MS },
])('a clock that is set $step moves no limit of a request', async ({ stepMs }) => {
  const { queue, push, failed } = openQueue();
  queue.scheduleRequestTimeoutCheck();
  push(1);
  vi.setSystemTime(Date.now() + stepMs);
  await vi.advanceTimersByTimeAsync(REQUEST_TIMEOUT_MS);
  expect(failed).toEqual([]);
  await vi.advanceTimersByTimeAsync(510);
  expect(failed).toEqual([1]);
  queue.destroy();
});

test('one timer looks after all connections, and ends with the last of them', async () => {
  let isConnected = true;
  const [first, second] = [openQueue(), openQueue(() => isConnected)];
  for (const { queue, push } of [first, second]) {
    queue.scheduleRequestTimeoutCheck();
    push(1);
  }
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(REQUEST_TIMEOUT_MS + 510);
  expect([first.failed, second.failed]).toEqual([[1], [1]]);
  first.queue.destroy();
  expect(vi.getTimerCount()).toBe(1);
  isConnected = false;
  await vi.advanceTimersByTimeAsync(510);
  expect(vi.getTimerCount()).toBe(0);
});
