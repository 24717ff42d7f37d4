import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createOffsetCommitter } from './offset-committer.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

type Offsets = { topic: string; partition: number; offset: string }[];

/** A member of a group, with what it has committed. A commit takes as long as it is said. */
function joinGroup(commitMs = 0) {
  const commits: Offsets[] = [];
  let joined = (): void => undefined;
  const offsets = createOffsetCommitter({
    events: { GROUP_JOIN: 'join' } as never,
    on: (_event: string, listener: () => void) => {
      joined = listener;
      return () => undefined;
    },
    commitOffsets: async (committed: Offsets) => {
      await new Promise((resolve) => setTimeout(resolve, commitMs));
      commits.push(committed);
    },
  } as never);
  return { offsets, commits, rejoin: () => joined() };
}

test('the last message of many is committed a second after the first, once', async () => {
  const { offsets, commits } = joinGroup();
  offsets.resolved('events', 0, 4n);
  await vi.advanceTimersByTimeAsync(950);
  offsets.resolved('events', 0, 5n);
  expect(commits).toEqual([]);
  await vi.advanceTimersByTimeAsync(60);
  expect(commits).toEqual([[{ topic: 'events', partition: 0, offset: '6' }]]);
});

test('where nothing is handled there is no timer, before and after', async () => {
  const { offsets, commits } = joinGroup();
  expect(vi.getTimerCount()).toBe(0);
  offsets.resolved('events', 0, 4n);
  await vi.advanceTimersByTimeAsync(1_010);
  expect([commits.length, vi.getTimerCount()]).toEqual([1, 0]);
});

test('what is handled during a commit is committed after it', async () => {
  const { offsets, commits } = joinGroup(500);
  offsets.resolved('events', 0, 4n);
  await vi.advanceTimersByTimeAsync(1_200);
  offsets.resolved('events', 0, 5n);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(commits.map(([one]) => one?.offset)).toEqual(['5', '6']);
});

test('a member that joins anew commits nothing of before', async () => {
  const { offsets, commits, rejoin } = joinGroup();
  offsets.resolved('events', 0, 4n);
  rejoin();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(commits).toEqual([]);
});

test('a stop commits what was handled', async () => {
  const { offsets, commits } = joinGroup();
  offsets.resolved('events', 0, 4n);
  const stopped = offsets.stop();
  await vi.advanceTimersByTimeAsync(10);
  await stopped;
  expect(commits).toEqual([[{ topic: 'events', partition: 0, offset: '5' }]]);
});
