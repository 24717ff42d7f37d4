import { expect, test } from 'vitest';

import { ATTEMPTS_MAX } from '#attempts/retry-schedule.ts';

import {
  beginSend,
  BREAKER_THRESHOLD,
  countAttempt,
  countRepeats,
  endRequest,
  endSend,
  inFlightMaxOf,
  type OwnedLane,
  PROBE_INTERVAL_MS,
  roomForRecovered,
  roomOf,
  toOwnedLane,
  toPoll,
  waitsForStoring,
  wantsOther,
} from './owned-lane.ts';

const PER_LANE_MAX = 10;
const NOW_MS = 1_000_000;

function aLane(changes: Partial<OwnedLane> = {}): OwnedLane {
  const claim = {
    id: 'a',
    accountId: 'one',
    fence: 1n,
    failureCount: 0,
    probeInMs: null,
    isTakenOver: false,
  };
  return { ...toOwnedLane(claim, NOW_MS), ...changes };
}

function fail(lane: OwnedLane, times: number): void {
  for (let count = 0; count < times; count += 1) countAttempt(lane, false, NOW_MS);
}

test('the breaker opens exactly at its threshold of failures in a row', () => {
  const lane = aLane();
  fail(lane, BREAKER_THRESHOLD - 1);
  expect(roomOf(lane, PER_LANE_MAX, NOW_MS)).toBe(1);
  countAttempt(lane, true, NOW_MS);
  fail(lane, BREAKER_THRESHOLD - 1);
  expect(lane.probeAtMs).toBeNull();
  fail(lane, 1);
  expect(lane.probeAtMs).toBe(NOW_MS + PROBE_INTERVAL_MS);
});

test('a lane that fails has no more in flight than failures are missing', () => {
  const lane = aLane();
  fail(lane, 7);
  expect(roomOf(lane, PER_LANE_MAX, NOW_MS)).toBe(3);
  beginSend(lane, { queueId: 'q', rank: 0, recoveryId: null });
  expect(roomOf(lane, PER_LANE_MAX, NOW_MS)).toBe(2);
  countAttempt(lane, true, NOW_MS);
  expect(roomOf(lane, PER_LANE_MAX, NOW_MS)).toBe(PER_LANE_MAX - 1);
});

test('a request that was answered frees its slot at once, and with its outcome unstored counts in a bound of its own', () => {
  const lane = aLane();
  const send = (index: number): void =>
    beginSend(lane, { queueId: `q${index}`, rank: 0, recoveryId: null });
  for (let index = 0; index < PER_LANE_MAX; index += 1) send(index);
  expect(roomOf(lane, PER_LANE_MAX, NOW_MS)).toBe(0);
  for (let index = 0; index < PER_LANE_MAX; index += 1) {
    endRequest(lane, `q${index}`);
    expect(roomOf(lane, PER_LANE_MAX, NOW_MS)).toBe(1);
    send(PER_LANE_MAX + index);
  }
  expect(lane.inFlight.size).toBe(inFlightMaxOf(PER_LANE_MAX));
  endRequest(lane, `q${PER_LANE_MAX}`);
  expect(roomOf(lane, PER_LANE_MAX, NOW_MS)).toBe(0);
  endSend(lane, 'q0');
  expect(roomOf(lane, PER_LANE_MAX, NOW_MS)).toBe(1);
});

test('a lane that fails makes no more requests than failures are missing, also while no outcome is stored', () => {
  const lane = aLane();
  for (let made = 1; made <= BREAKER_THRESHOLD; made += 1) {
    beginSend(lane, { queueId: `q${made}`, rank: 0, recoveryId: null });
  }
  for (let failed = 1; failed <= BREAKER_THRESHOLD; failed += 1) {
    countAttempt(lane, false, NOW_MS);
    endRequest(lane, `q${failed}`);
    expect(roomOf(lane, PER_LANE_MAX, NOW_MS)).toBe(0);
  }
  expect(lane.probeAtMs).not.toBeNull();
});

test('a lane waits for storing where slots are free and the outcomes that are not stored leave no room', () => {
  const lane = aLane();
  for (let index = 0; index < inFlightMaxOf(PER_LANE_MAX); index += 1) {
    beginSend(lane, { queueId: `q${index}`, rank: 0, recoveryId: null });
    if (index < PER_LANE_MAX) endRequest(lane, `q${index}`);
  }
  expect(waitsForStoring(lane, PER_LANE_MAX)).toBe(false);
  endRequest(lane, `q${PER_LANE_MAX}`);
  expect(waitsForStoring(lane, PER_LANE_MAX)).toBe(true);
  endSend(lane, 'q0');
  expect(waitsForStoring(lane, PER_LANE_MAX)).toBe(false);
});

test('a probe waits until the outcome of the one before is stored', () => {
  const lane = aLane({ failureCount: BREAKER_THRESHOLD, probeAtMs: NOW_MS });
  beginSend(lane, { queueId: 'probe', rank: 0, recoveryId: null });
  countAttempt(lane, false, NOW_MS);
  endRequest(lane, 'probe');
  expect(roomOf(lane, PER_LANE_MAX, NOW_MS + PROBE_INTERVAL_MS)).toBe(0);
  endSend(lane, 'probe');
  expect(roomOf(lane, PER_LANE_MAX, NOW_MS + PROBE_INTERVAL_MS)).toBe(1);
});

test('after a take-over as many sends count as repeats as the owner before may have had in flight', () => {
  const lane = aLane({ isTakenOver: true });
  const repeatsOf = (one: OwnedLane, count: number, isAll = false) =>
    countRepeats(one, { count, isAll }, PER_LANE_MAX);
  const counts = [7, PER_LANE_MAX, PER_LANE_MAX, PER_LANE_MAX].map((count) =>
    repeatsOf(lane, count),
  );
  expect(counts).toEqual([7, PER_LANE_MAX, inFlightMaxOf(PER_LANE_MAX) - 17, 0]);
  expect(repeatsOf(aLane(), PER_LANE_MAX)).toBe(0);
  const emptied = aLane({ isTakenOver: true });
  expect([repeatsOf(emptied, 7, true), repeatsOf(emptied, 1)]).toEqual([7, 0]);
});

test('all attempts of one delivery together never open it', () => {
  const lane = aLane();
  fail(lane, ATTEMPTS_MAX);
  expect(lane.probeAtMs).toBeNull();
});

test('while it is open one probe is out at a time, each an interval after the last one failed', () => {
  const lane = aLane({ failureCount: BREAKER_THRESHOLD - 1 });
  fail(lane, 1);
  const probeAtMs = NOW_MS + PROBE_INTERVAL_MS;
  expect(roomOf(lane, PER_LANE_MAX, probeAtMs - 1)).toBe(0);
  expect(roomOf(lane, PER_LANE_MAX, probeAtMs)).toBe(1);
  beginSend(lane, { queueId: 'q', rank: 0, recoveryId: null });
  expect(roomOf(lane, PER_LANE_MAX, probeAtMs)).toBe(0);
  lane.inFlight.clear();
  countAttempt(lane, false, probeAtMs);
  expect(roomOf(lane, PER_LANE_MAX, probeAtMs + PROBE_INTERVAL_MS - 1)).toBe(0);
  expect(countAttempt(lane, true, probeAtMs)).toBe(true);
  expect(roomOf(lane, PER_LANE_MAX, probeAtMs)).toBe(PER_LANE_MAX);
});

test('a success of a lane that does well changes nothing that has to be stored', () => {
  expect(countAttempt(aLane(), true, NOW_MS)).toBe(false);
});

test('a breaker that was open when the lane was claimed is open still', () => {
  const claim = {
    id: 'a',
    accountId: 'one',
    fence: 2n,
    failureCount: 12,
    probeInMs: 700,
    isTakenOver: false,
  };
  const lane = toOwnedLane(claim, NOW_MS);
  expect(roomOf(lane, PER_LANE_MAX, performance.now())).toBe(0);
  expect(roomOf(lane, PER_LANE_MAX, performance.now() + 1_000)).toBe(1);
});

test('one send in ten is kept for retries, also where a lane sends one at a time', () => {
  const lane = aLane();
  expect(wantsOther(lane, PER_LANE_MAX)).toBe(true);
  for (let count = 0; count < 9; count += 1) {
    expect(wantsOther(lane, 1)).toBe(false);
    beginSend(lane, { queueId: `q${count}`, rank: 0, recoveryId: null });
  }
  expect(wantsOther(lane, 1)).toBe(true);
  beginSend(lane, { queueId: 'retry', rank: 1, recoveryId: null });
  expect(wantsOther(lane, 1)).toBe(false);
});

test('what is recovered holds a third of the slots at most, and one where there is only one', () => {
  const lane = aLane();
  expect(roomForRecovered(lane, 1)).toBe(1);
  expect(roomForRecovered(lane, PER_LANE_MAX)).toBe(3);
  beginSend(lane, { queueId: 'live', rank: 0, recoveryId: null });
  beginSend(lane, { queueId: 'recovered', rank: 2, recoveryId: 'r' });
  expect(roomForRecovered(lane, 1)).toBe(0);
  expect(roomForRecovered(lane, PER_LANE_MAX)).toBe(2);
  lane.mayBeDue = false;
  endSend(lane, 'recovered');
  expect(lane.mayBeDue).toBe(true);
  expect(roomForRecovered(lane, PER_LANE_MAX)).toBe(3);
  expect([...lane.inFlight]).toEqual(['live']);
});

test('a poll looks into lanes that were active, and into a bounded number of idle ones, the longest unfetched first', () => {
  const active = aLane({ activeMs: NOW_MS - 900, fetchedMs: NOW_MS });
  const idleSince = (fetchedMs: number) => aLane({ activeMs: NOW_MS - 1_000, fetchedMs });
  const [justFetched, late, later] = [599, 700, 800].map((ms) => idleSince(NOW_MS - ms));
  const lanes = [justFetched!, late!, active, later!];
  expect(toPoll(lanes, { idleMax: 9, nowMs: NOW_MS })).toEqual([active, late, later]);
  expect(toPoll(lanes, { idleMax: 1, nowMs: NOW_MS })).toEqual([active, later]);
});
