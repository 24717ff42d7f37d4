import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { createFetchRest, type FetchRest } from './fetch-rest.ts';

const FOR_OTHERS = Promise.resolve(true);
const OWN = Promise.resolve(false);

let stopping: AbortController;
let rest: FetchRest;

beforeEach(() => {
  vi.useFakeTimers();
  stopping = new AbortController();
  rest = createFetchRest(stopping.signal);
  rest.fetchBegins();
});

afterEach(() => void vi.useRealTimers());

/** When all of these batches have ended and rested, in ms from now. */
function endOf(...batches: readonly Promise<boolean>[]): () => number | null {
  const startedMs = performance.now();
  let endMs: number | null = null;
  void watch();
  return () => endMs;

  async function watch(): Promise<void> {
    await Promise.allSettled(batches.map((handling) => rest.after(handling)));
    endMs = performance.now() - startedMs;
  }
}

describe('after a fetch that brought only messages for others', () => {
  test('the next one begins 40 ms after its beginning', async () => {
    await vi.advanceTimersByTimeAsync(15);
    const end = endOf(FOR_OTHERS, FOR_OTHERS);
    await vi.advanceTimersByTimeAsync(100);
    expect(end()).toBe(25);
  });

  test('the next one begins at once where it waited for them', async () => {
    await vi.advanceTimersByTimeAsync(40);
    const end = endOf(FOR_OTHERS);
    await vi.advanceTimersByTimeAsync(0);
    expect(end()).toBe(0);
  });

  test('a stop ends the rest, and no other one begins', async () => {
    const end = endOf(FOR_OTHERS);
    await vi.advanceTimersByTimeAsync(5);
    stopping.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(end()).toBe(5);
    rest.fetchBegins();
    const endOfNext = endOf(FOR_OTHERS);
    await vi.advanceTimersByTimeAsync(0);
    expect(endOfNext()).toBe(0);
  });
});

describe('after a fetch that brought a message of its own', () => {
  test.each([
    ['before those for others', [OWN, FOR_OTHERS]],
    ['behind those for others', [FOR_OTHERS, OWN]],
  ])('the next one begins at once: %s', async (_where, batches) => {
    const end = endOf(...batches);
    await vi.advanceTimersByTimeAsync(0);
    expect(end()).toBe(0);
  });

  test('the next one begins as soon as it is handled', async () => {
    const own = Promise.withResolvers<boolean>();
    const end = endOf(FOR_OTHERS, own.promise);
    await vi.advanceTimersByTimeAsync(10);
    own.resolve(false);
    await vi.advanceTimersByTimeAsync(0);
    expect(end()).toBe(10);
  });

  test('the one behind the next may be late again', async () => {
    endOf(OWN);
    await vi.advanceTimersByTimeAsync(0);
    rest.fetchBegins();
    const end = endOf(FOR_OTHERS);
    await vi.advanceTimersByTimeAsync(100);
    expect(end()).toBe(40);
  });
});

test('a batch that the group has lost ends the rest, and the library hears of it', async () => {
  const lost = Promise.reject(new Error('rebalancing'));
  const end = endOf(FOR_OTHERS, lost);
  await vi.advanceTimersByTimeAsync(0);
  expect(end()).toBe(0);
  await expect(rest.after(lost)).rejects.toThrow('rebalancing');
});
