import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createContention } from './contention.ts';
import { createGroups } from './groups.ts';

const GROUP_MS = 200;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Groups of three; `begin` notes so much of an account. */
function groupsOfThree() {
  const opened = vi.fn<() => void>();
  const groups = createGroups({ size: 3, contention: createContention(), opened });
  const begin = (account: string, times = 1): void => {
    for (let time = 0; time < times; time += 1) groups.note(account);
  };
  return { ...groups, begin, opened };
}

test('an account that is alone never waits', () => {
  const { begin, mustWait, waiting } = groupsOfThree();
  begin('a', 100);
  expect([mustWait('a'), waiting()]).toEqual([false, []]);
});

test('beside another one an account waits when it has begun a group, until a fifth of a second after its first', () => {
  const { begin, mustWait, waiting, opened } = groupsOfThree();
  begin('b');
  begin('a', 2);
  expect(mustWait('a')).toBe(false);
  vi.advanceTimersByTime(GROUP_MS / 2);
  begin('a', 5);
  expect([mustWait('a'), waiting()]).toEqual([true, ['a']]);
  vi.advanceTimersByTime(GROUP_MS / 2 - 1);
  expect([mustWait('a'), opened.mock.calls]).toEqual([true, []]);
  vi.advanceTimersByTime(1);
  expect([mustWait('a'), waiting(), opened.mock.calls.length]).toEqual([false, [], 1]);
});

test('an account that never begins a whole group waits for nothing, and nobody is woken for it', () => {
  const { begin, mustWait, opened } = groupsOfThree();
  begin('b');
  for (let group = 0; group < 10; group += 1) {
    begin('a', 2);
    expect(mustWait('a')).toBe(false);
    vi.advanceTimersByTime(GROUP_MS);
  }
  expect(opened).not.toHaveBeenCalled();
});

test('nobody is woken at the end of a whole group where none was told to wait', () => {
  const { begin, mustWait, opened } = groupsOfThree();
  begin('a', 3);
  expect(mustWait('a')).toBe(false);
  vi.advanceTimersByTime(GROUP_MS);
  expect(opened).not.toHaveBeenCalled();
});

test('what was begun before another account came counts as well', () => {
  const { begin, mustWait } = groupsOfThree();
  begin('a', 3);
  begin('b');
  expect([mustWait('a'), mustWait('b')]).toEqual([true, false]);
});
