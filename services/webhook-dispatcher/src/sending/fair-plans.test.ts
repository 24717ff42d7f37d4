import { scaled } from '@pixmesh/testkit/long-runs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { beginSend, endSend, type OwnedLane, toOwnedLane } from '#lanes/owned-lane.ts';

import { planFetch } from './plan-fetch.ts';

const PER_LANE_MAX = 10;
const HISTORIES = scaled(20, 500);
const PLANS = 60;

type Lanes = Map<string, OwnedLane>;

/** Lanes by account, in each of which something is due for ever. */
function lanesOf(counts: readonly number[]): Lanes {
  const lanes: Lanes = new Map();
  for (const [account, count] of counts.entries()) {
    for (let number = 0; number < count; number += 1) addLane(lanes, String(account));
  }
  return lanes;
}

function addLane(lanes: Lanes, accountId: string): void {
  const id = `${accountId}-${lanes.size}`;
  const claim = { id, accountId, fence: 1n, failureCount: 0, probeInMs: null, isTakenOver: false };
  lanes.set(id, { ...toOwnedLane(claim, Infinity), isProven: true });
}

let sendCount = 0;
let turnCount = 0;

/** Makes a plan and begins everything that it gives; answers how much that is by account. */
function sendAll(lanes: Lanes, inFlightMax: number): Map<string, number> {
  const given = new Map<string, number>();
  const { requests } = planFetch(lanes, {
    inFlightMax,
    perLaneMax: PER_LANE_MAX,
    nowMs: 0,
    pausedAccounts: new Set(),
  });
  for (const { id, take } of requests) {
    const lane = lanes.get(id)!;
    turnCount += 1;
    lane.servedNumber = turnCount;
    given.set(lane.accountId, (given.get(lane.accountId) ?? 0) + take);
    for (let count = 0; count < take; count += 1) {
      sendCount += 1;
      beginSend(lane, { queueId: String(sendCount), rank: 0, recoveryId: null });
    }
  }
  return given;
}

function inFlightOf(lanes: Lanes, accountId?: string): number {
  return [...lanes.values()]
    .filter((lane) => accountId === undefined || lane.accountId === accountId)
    .reduce((sum, { inFlight }) => sum + inFlight.size, 0);
}

function endAll(lanes: Lanes, isOver: () => boolean = () => true): void {
  for (const lane of lanes.values()) {
    for (const id of lane.inFlight) if (isOver()) endSend(lane, id);
  }
}

const histories = fc.record({
  counts: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 12 }),
  inFlightMax: fc.integer({ min: 1, max: 200 }),
  draws: fc.array(fc.boolean(), { minLength: 50, maxLength: 500 }),
});

describe('plans, one after the other,', () => {
  test('leave no slot free that an account with something due may have, and pass no bound', () => {
    fc.assert(
      fc.property(histories, ({ counts, inFlightMax, draws }) => {
        const lanes = lanesOf(counts);
        let drawn = 0;
        for (let number = 0; number < PLANS; number += 1) {
          sendAll(lanes, inFlightMax);
          const free = inFlightMax - inFlightOf(lanes);
          expect(free).toBeGreaterThanOrEqual(0);
          for (const [account, count] of counts.entries()) {
            const used = inFlightOf(lanes, String(account));
            const areFull = used === count * PER_LANE_MAX;
            if (!areFull) expect(used).toBeGreaterThanOrEqual(4 * free);
          }
          const most = Math.max(...[...lanes.values()].map(({ inFlight }) => inFlight.size));
          expect(most).toBeLessThanOrEqual(PER_LANE_MAX);
          endAll(lanes, () => draws[(drawn += 1) % draws.length]!);
        }
      }),
      { numRuns: HISTORIES },
    );
  });

  test('are never more than one turn off equal turns', () => {
    fc.assert(
      fc.property(histories, ({ counts, inFlightMax }) => {
        // So few that no account's lanes are ever full: accounts differ by nothing but their turns.
        const slots = Math.min(inFlightMax, counts.length * PER_LANE_MAX);
        const lanes = lanesOf(counts);
        const turns = new Map(counts.map((_, account) => [String(account), 0]));
        for (let number = 0; number < PLANS; number += 1) {
          for (const [account, take] of sendAll(lanes, slots)) {
            turns.set(account, turns.get(account)! + take);
          }
          const all = [...turns.values()];
          expect(Math.max(...all) - Math.min(...all)).toBeLessThanOrEqual(1);
          endAll(lanes);
        }
      }),
      { numRuns: HISTORIES },
    );
  });

  test('leave slots to who comes later, beside accounts whose sends do not end', () => {
    const lanes = lanesOf([100]);
    sendAll(lanes, 640);
    expect(inFlightOf(lanes)).toBe(512);
    for (const later of ['1', '2', '3', '4']) {
      for (let count = 0; count < 100; count += 1) addLane(lanes, later);
      sendAll(lanes, 640);
      expect(inFlightOf(lanes, later)).toBeGreaterThan(0);
    }
  });

  test('come to equal shares as sends end', () => {
    const lanes = lanesOf([100]);
    sendAll(lanes, 640);
    for (let count = 0; count < 100; count += 1) addLane(lanes, 'later');
    let ended = 0;
    for (let number = 0; number < PLANS; number += 1) {
      sendAll(lanes, 640);
      endAll(lanes, () => (ended += 1) % 8 === 0);
    }
    sendAll(lanes, 640);
    expect([inFlightOf(lanes, '0'), inFlightOf(lanes, 'later')]).toEqual([285, 284]);
  });

  test('give an account of many lanes no more turns than one of a single lane', () => {
    const given = sendAll(lanesOf([50, 1]), 9);
    expect(Object.fromEntries(given)).toEqual({ 0: 4, 1: 4 });
  });
});
