import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createContention } from './contention.ts';
import { OWN_WORK } from './current-account.ts';

const CONTENDED_MS = 10_000;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Whether there is contention after each of these calls. */
function callsOf(accounts: readonly string[]) {
  const { noteCall, isContended } = createContention();
  const call = (account: string): boolean => {
    noteCall(account);
    return isContended();
  };
  return { call, seen: accounts.map(call) };
}

test('an account whose calls are the only ones is alone', () => {
  expect(callsOf(['a', 'a', 'a']).seen).toEqual([false, false, false]);
});

test('of several accounts none is alone, until ten seconds after the last call of another one', () => {
  const { call, seen } = callsOf(['a', 'b', 'c', 'a', 'a']);
  expect(seen).toEqual([false, true, true, true, true]);
  vi.advanceTimersByTime(CONTENDED_MS - 1);
  expect(call('a')).toBe(true);
  vi.advanceTimersByTime(1);
  expect(call('a')).toBe(false);
});

test('an account that calls when all others have long been silent is alone at once', () => {
  const { call } = callsOf(['a', 'b']);
  vi.advanceTimersByTime(CONTENDED_MS);
  expect(call('a')).toBe(false);
});

test('work of no account leaves an account alone', () => {
  expect(callsOf(['a', OWN_WORK, 'a', OWN_WORK]).seen).toEqual([false, false, false, false]);
});
