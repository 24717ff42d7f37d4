import { Socket } from 'node:net';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { firstConnected } from './first-connected.ts';

const NEXT_ATTEMPT_MS = 250;
const ATTEMPTS = 8;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Attempts that end only when the test says so. */
function heldAttempts() {
  const attempts: (PromiseWithResolvers<Socket> & { isWanted: () => boolean })[] = [];
  const connected = firstConnected(async (isWanted) => {
    const held = { ...Promise.withResolvers<Socket>(), isWanted };
    attempts.push(held);
    return await held.promise;
  });
  connected.catch(() => undefined);
  return { attempts, connected };
}

test('a connection that is made in time is the only attempt', async () => {
  const { attempts, connected } = heldAttempts();
  const socket = new Socket();
  attempts[0]?.resolve(socket);
  expect(await connected).toBe(socket);
  expect([attempts.length, vi.getTimerCount()]).toEqual([1, 0]);
});

test('where one takes long, others are made beside it, a quarter of a second apart, up to eight', async () => {
  const { attempts } = heldAttempts();
  await vi.advanceTimersByTimeAsync(NEXT_ATTEMPT_MS - 1);
  expect(attempts).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(attempts).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(10 * NEXT_ATTEMPT_MS);
  expect(attempts).toHaveLength(ATTEMPTS);
});

test('the first that connects is answered; what connects later is closed, and what waits is not wanted', async () => {
  const { attempts, connected } = heldAttempts();
  await vi.advanceTimersByTimeAsync(2 * NEXT_ATTEMPT_MS);
  const [first, second] = [new Socket(), new Socket()];
  attempts[1]?.resolve(first);
  expect(await connected).toBe(first);
  attempts[0]?.resolve(second);
  await vi.advanceTimersByTimeAsync(10 * NEXT_ATTEMPT_MS);
  expect(attempts.map(({ isWanted }) => isWanted())).toEqual([false, false, false]);
  expect([first.destroyed, second.destroyed]).toEqual([false, true]);
});

test('a refused connection is an answer at once; one beside another that may connect is not', async () => {
  const refused = heldAttempts();
  refused.attempts[0]?.reject(new Error('refused'));
  await expect(refused.connected).rejects.toThrow('refused');
  expect(vi.getTimerCount()).toBe(0);
  const { attempts, connected } = heldAttempts();
  await vi.advanceTimersByTimeAsync(NEXT_ATTEMPT_MS);
  attempts[0]?.reject(new Error('too late'));
  const socket = new Socket();
  attempts[1]?.resolve(socket);
  expect(await connected).toBe(socket);
});
