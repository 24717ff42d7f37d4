import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createRecentCalls } from './recent-calls.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('calls count in their second and in the next one, each account’s by themselves', () => {
  const calls = createRecentCalls();
  for (let count = 0; count < 3; count += 1) calls.note('a');
  calls.note('b');
  expect([calls.perSecond('a'), calls.perSecond('b'), calls.perSecond('c')]).toEqual([3, 1, 0]);
  vi.advanceTimersByTime(1_000);
  expect(calls.perSecond('a')).toBe(3);
  calls.note('a');
  expect(calls.perSecond('a')).toBe(3);
  vi.advanceTimersByTime(1_000);
  expect(calls.perSecond('a')).toBe(1);
});

test('after two seconds nothing is left of them', () => {
  const calls = createRecentCalls();
  calls.note('a');
  vi.advanceTimersByTime(2_000);
  expect(calls.perSecond('a')).toBe(0);
});
