import { describe, expect, test } from 'vitest';

import { beginSend, type OwnedLane, toOwnedLane } from '#lanes/owned-lane.ts';

import { planFetch } from './plan-fetch.ts';
import { createWaitingAccounts } from './waiting-accounts.ts';

const ACCOUNT = 'an account';
const SLOTS = 640;
const CLAIM_MAX = 64;

function aLane(id: string, failureCount = 0): OwnedLane {
  const claim = { fence: 1n, probeInMs: null, isTakenOver: false };
  return toOwnedLane({ ...claim, id, accountId: ACCOUNT, failureCount }, Infinity);
}

function lanesOf(count: number): OwnedLane[] {
  return Array.from({ length: count }, (_, index) => aLane(String(index)));
}

const NOTHING = {
  lanes: [],
  full: new Set<string>(),
  failing: new Map(),
  paused: new Set<string>(),
};
const ONLY = new Set([ACCOUNT]);
const NONE = new Set();

describe('no further lanes are claimed of an account', () => {
  test('that is full, and its lanes are rotated for slots', () => {
    const waiting = createWaitingAccounts();
    waiting.note({ ...NOTHING, full: ONLY });
    expect(waiting.current()).toEqual(ONLY);
    expect(waiting.takeNoted()).toEqual({ forSlots: ONLY, forRate: NONE, ofFailing: NONE });
  });

  test('that is paused and has 16 lanes here that have something to do', () => {
    const waiting = createWaitingAccounts();
    waiting.note({ ...NOTHING, lanes: lanesOf(15), paused: ONLY });
    expect(waiting.current()).toEqual(NONE);
    waiting.note({ ...NOTHING, lanes: lanesOf(16), paused: ONLY });
    expect(waiting.current()).toEqual(ONLY);
    expect(waiting.takeNoted()).toEqual({ forSlots: NONE, forRate: ONLY, ofFailing: NONE });
  });

  test('of which 16 lanes that fail got no slot, until fewer of them wait', () => {
    const waiting = createWaitingAccounts();
    waiting.note({ ...NOTHING, failing: new Map([[ACCOUNT, 15]]) });
    expect(waiting.current()).toEqual(NONE);
    waiting.note({ ...NOTHING, failing: new Map([[ACCOUNT, 16]]) });
    expect(waiting.current()).toEqual(ONLY);
    waiting.note({ ...NOTHING, failing: new Map([[ACCOUNT, 15]]) });
    expect(waiting.current()).toEqual(NONE);
    expect(waiting.takeNoted()).toEqual({ forSlots: NONE, forRate: NONE, ofFailing: ONLY });
    expect(waiting.takeNoted()).toEqual({ forSlots: NONE, forRate: NONE, ofFailing: NONE });
  });
});

test('of an account whose receivers all hang no more lanes are claimed than find slots and those of one claim', () => {
  const waiting = createWaitingAccounts();
  const lanes = new Map<string, OwnedLane>();
  for (let turn = 0; turn < 80; turn += 1) {
    for (let count = 0; count < CLAIM_MAX && !waiting.current().has(ACCOUNT); count += 1) {
      const lane = aLane(String(lanes.size), 9);
      lanes.set(lane.id, lane);
    }
    const plan = planFetch(lanes, {
      inFlightMax: SLOTS,
      perLaneMax: 10,
      nowMs: 0,
      pausedAccounts: new Set(),
    });
    for (const { id } of plan.requests) {
      beginSend(lanes.get(id)!, { queueId: id, rank: 1, recoveryId: null });
    }
    waiting.note({
      ...NOTHING,
      lanes: lanes.values(),
      full: plan.fullAccounts,
      failing: plan.failingCounts,
    });
  }
  expect(lanes.size).toBeGreaterThan(SLOTS / 4);
  expect(lanes.size).toBeLessThan(SLOTS / 2 + CLAIM_MAX);
});
