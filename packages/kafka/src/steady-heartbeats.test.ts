import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { consumerGroupClass, keepHeartbeatsSteady } from './steady-heartbeats.ts';

keepHeartbeatsSteady();

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const INTERVAL_MS = 1_000;
const HOUR_MS = 3_600_000;

/** The library's member of a group, which is asked twice in an interval whether a heartbeat is due. */
function joinGroup() {
  const sent: object[] = [];
  const Member = consumerGroupClass();
  const member = new Member({
    logger: { namespace: () => undefined },
    instrumentationEmitter: { emit: () => undefined },
  });
  member.memberId = 'member';
  member.coordinator = { heartbeat: async (request) => void sent.push(request) };
  const timer = setInterval(() => {
    void member.heartbeat({ interval: INTERVAL_MS });
  }, INTERVAL_MS / 2);
  return { sent, leave: () => clearInterval(timer) };
}

test('a member sends one heartbeat an interval', async () => {
  const { sent, leave } = joinGroup();
  await vi.advanceTimersByTimeAsync(4 * INTERVAL_MS);
  expect(sent).toHaveLength(4);
  leave();
});

test('a clock that is set back costs one heartbeat at most', async () => {
  const { sent, leave } = joinGroup();
  await vi.advanceTimersByTimeAsync(1.5 * INTERVAL_MS);
  vi.setSystemTime(Date.now() - HOUR_MS);
  await vi.advanceTimersByTimeAsync(4.5 * INTERVAL_MS);
  expect(sent).toHaveLength(5);
  leave();
});
