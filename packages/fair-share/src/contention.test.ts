import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createContention } from './contention.ts';
import { OWN_WORK } from './current-account.ts';

const CONTENDED_MS = 10_000;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('an account whose calls are the only ones is alone, from its first call on', () => {
  const { isContended } = createContention();
  expect(['a', 'a', 'a'].map(isContended)).toEqual([false, false, false]);
});

test('of two accounts none is alone, until the other has not called for ten seconds', () => {
  const { isContended } = createContention();
  isContended('a');
  expect(['b', 'a', 'a'].map(isContended)).toEqual([true, true, true]);
  vi.advanceTimersByTime(CONTENDED_MS - 1);
  expect(isContended('a')).toBe(true);
  vi.advanceTimersByTime(1);
  expect(isContended('a')).toBe(false);
});

test('work of no account leaves an account alone', () => {
  const { isContended } = createContention();
  expect(['a', OWN_WORK, 'a', OWN_WORK].map(isContended)).toEqual([false, false, false, false]);
});
