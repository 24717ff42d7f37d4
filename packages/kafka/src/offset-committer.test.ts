import { createLogger } from '@pixmesh/telemetry/logger';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createOffsetCommitter } from './offset-committer.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

type Offsets = { topic: string; partition: number; offset: string }[];

/**
 * A member of a group, with what it has committed and what it has warned of. A commit takes as long as it is said, or
 * is refused.
 */
function joinGroup({ commitMs = 0, refusal = '' } = {}) {
  const commits: Offsets[] = [];
  const warnings: unknown[] = [];
  const logger = createLogger('test', 'silent');
  logger.warn = (fields: unknown, message?: unknown) => void warnings.push([fields, message]);
  let joined = (): void => undefined;
  const member = {
    events: { GROUP_JOIN: 'join' } as never,
    on: (_event: string, listener: () => void) => {
      joined = listener;
      return () => undefined;
    },
    commitOffsets: async (committed: Offsets) => {
      await new Promise((resolve) => setTimeout(resolve, commitMs));
      commits.push(committed);
      if (refusal !== '') throw refusedAs(refusal);
    },
  };
  const offsets = createOffsetCommitter(member as never, { groupId: 'group', logger });
  return { offsets, commits, warnings, rejoin: () => joined() };
}

/** As the library passes on what the broker has answered. */
function refusedAs(type: string): Error {
  return new Error('refused', { cause: Object.assign(new Error(type), { type }) });
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
  const { offsets, commits } = joinGroup({ commitMs: 500 });
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

test('a member that the group does not know says so once until it has joined again', async () => {
  const { offsets, commits, warnings, rejoin } = joinGroup({ refusal: 'UNKNOWN_MEMBER_ID' });
  const commit = async (offset: bigint): Promise<void> => {
    offsets.resolved('events', 0, offset);
    await vi.advanceTimersByTimeAsync(1_010);
  };
  await commit(4n);
  await commit(5n);
  expect(commits).toHaveLength(2);
  const warning = [
    { err: expect.any(Error) as Error, group_id: 'group' },
    'offsets not committed: no member of the group',
  ];
  expect(warnings).toEqual([warning]);
  rejoin();
  await commit(6n);
  expect(warnings).toEqual([warning, warning]);
});

test('a commit that is refused because the group rebalances is nothing to be warned of', async () => {
  const { offsets, commits, warnings } = joinGroup({ refusal: 'REBALANCE_IN_PROGRESS' });
  offsets.resolved('events', 0, 4n);
  await vi.advanceTimersByTimeAsync(1_010);
  expect([commits.length, warnings]).toEqual([1, []]);
});

test('a stop commits what was handled', async () => {
  const { offsets, commits } = joinGroup();
  offsets.resolved('events', 0, 4n);
  const stopped = offsets.stop();
  await vi.advanceTimersByTimeAsync(10);
  await stopped;
  expect(commits).toEqual([[{ topic: 'events', partition: 0, offset: '5' }]]);
});
