import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { type OwnedLane, toOwnedLane } from '#lanes/owned-lane.ts';

import { planFetch } from './plan-fetch.ts';

const BOUNDS = {
  inFlightMax: 64,
  perLaneMax: 10,
  nowMs: 1_000_000,
  pausedAccounts: new Set<string>(),
};

/** Each lane is of an account of its own where none is named. */
function aLane(
  id: string,
  changes: Partial<OwnedLane> & { sending?: number; answered?: number } = {},
): OwnedLane {
  const { sending = 0, answered = 0, ...others } = changes;
  const claim = {
    id,
    accountId: id,
    fence: 1n,
    failureCount: 0,
    probeInMs: null,
    isTakenOver: false,
  };
  const inFlight = new Set(Array.from({ length: sending }, (_, index) => `${id}-${index}`));
  const unrecorded = new Set([...inFlight].slice(0, answered));
  return { ...toOwnedLane(claim, BOUNDS.nowMs), inFlight, unrecorded, ...others };
}

function byId(lanes: readonly OwnedLane[]): Map<string, OwnedLane> {
  return new Map(lanes.map((lane) => [lane.id, lane]));
}

function plan(lanes: readonly OwnedLane[], bounds = BOUNDS) {
  const { requests, fullAccounts } = planFetch(byId(lanes), bounds);
  return {
    takes: Object.fromEntries(requests.map(({ id, take }) => [id, take])),
    full: [...fullAccounts],
  };
}

describe('a plan', () => {
  test('gives a lane what is left of its bound, and names what is in flight', () => {
    const lane = aLane('a', { sending: 7 });
    expect(plan([lane])).toEqual({ takes: { a: 3 }, full: [] });
    const { requests } = planFetch(new Map([['a', lane]]), BOUNDS);
    expect(requests[0]?.inFlight).toEqual([...lane.inFlight]);
  });

  test('gives the slots of answered requests again, and still names their deliveries as in flight', () => {
    const lane = aLane('a', { sending: 12, answered: 4 });
    expect(plan([lane])).toEqual({ takes: { a: 2 }, full: [] });
    const { requests } = planFetch(new Map([['a', lane]]), BOUNDS);
    expect(requests[0]?.inFlight).toEqual([...lane.inFlight]);
  });

  test('leaves out lanes that are full, draining, without anything due, or whose probe is not due', () => {
    const lanes = [
      aLane('full', { sending: 10 }),
      aLane('unrecorded', { sending: 20, answered: 15 }),
      aLane('draining', { isDraining: true }),
      aLane('idle', { mayBeDue: false }),
      aLane('open', { failureCount: 10, probeAtMs: BOUNDS.nowMs + 1 }),
    ];
    expect(plan(lanes)).toEqual({ takes: {}, full: [] });
  });

  test('shares slots alike before any lane gets more, and reports that there were not as many as asked for', () => {
    const lanes = Array.from({ length: 16 }, (_, index) => aLane(`lane-${index}`));
    const { takes } = plan(lanes);
    expect(Object.values(takes)).toEqual(Array(16).fill(4));
    expect(planFetch(byId(lanes), BOUNDS).isSaturated).toBe(true);
    expect(planFetch(byId(lanes.slice(0, 3)), BOUNDS).isSaturated).toBe(false);
  });

  test('reports accounts of lanes that got no slot as full, and never for having less than they may', () => {
    const served = Array.from({ length: 16 }, (_, index) => aLane(`lane-${index}`));
    expect(plan(served).full).toEqual([]);
    const many = Array.from({ length: BOUNDS.inFlightMax + 1 }, (_, index) => aLane(`${index}`));
    const { takes, full } = plan(many);
    expect(Object.values(takes)).toEqual(Array(BOUNDS.inFlightMax).fill(1));
    expect(full).toHaveLength(1);
  });

  test('while slots are scarce gives one at a time to lanes that have not proven themselves', () => {
    const busy = ['a', 'b', 'c', 'd'].map((id) => aLane(id, { sending: 10 }));
    const { takes } = plan([...busy, aLane('new'), aLane('good', { isProven: true })]);
    expect(takes).toEqual({ new: 1, good: 10 });
  });

  test('leaves half of the slots to lanes that do well, however many fail', () => {
    const hanging = Array.from({ length: 31 }, (_, index) =>
      aLane(`hanging-${index}`, { sending: 1, failureCount: 1 }),
    );
    const more = Array.from({ length: 20 }, (_, index) =>
      aLane(`more-${index}`, { failureCount: 3 }),
    );
    const { takes } = plan([...hanging, ...more, aLane('good', { isProven: true })]);
    expect(Object.values(takes)).toHaveLength(2);
    expect(takes['good']).toBeGreaterThan(0);
  });

  test('counts by account the lanes that fail and got no slot, and wants slots for them', () => {
    const accountId = 'an account';
    const hanging = Array.from({ length: 25 }, (_, index) =>
      aLane(`hanging-${index}`, { accountId, sending: 1, failureCount: 1, mayBeDue: false }),
    );
    const more = Array.from({ length: 20 }, (_, index) =>
      aLane(`more-${index}`, { accountId, failureCount: 3 }),
    );
    const lanes = [...hanging, ...more, aLane('good', { accountId, isProven: true })];
    const { requests, ...planned } = planFetch(byId(lanes), BOUNDS);
    expect(requests.map(({ id, take }) => [id, take])).toEqual([
      ['more-0', 1],
      ['good', 10],
    ]);
    expect(planned).toEqual({
      fullAccounts: new Set(),
      failingCounts: new Map([[accountId, 19]]),
      isSaturated: true,
    });
    expect(planFetch(byId([...hanging, ...more.slice(0, 1)]), BOUNDS)).toMatchObject({
      failingCounts: new Map(),
    });
  });

  test('gives what is recovered a third of a lane and an eighth of all slots', () => {
    const lanes = [
      aLane('a', { sending: 3, recovering: new Set(['a-0']) }),
      aLane('b'),
      aLane('c'),
      aLane('d'),
    ];
    const { requests } = planFetch(new Map(lanes.map((lane) => [lane.id, lane])), BOUNDS);
    expect(requests.map(({ id, recovered }) => [id, recovered])).toEqual([
      ['a', 2],
      ['b', 2],
      ['c', 2],
      ['d', 1],
    ]);
    expect(requests.map(({ take }) => take)).toEqual([7, 10, 10, 10]);
  });

  test('never passes a bound, whatever the lanes are', () => {
    const lane = fc.record({
      sending: fc.nat({ max: 20 }),
      answered: fc.nat({ max: 20 }),
      mayBeDue: fc.boolean(),
      isProven: fc.boolean(),
      failureCount: fc.nat({ max: 9 }),
    });
    fc.assert(
      fc.property(
        fc.array(lane, { maxLength: 12 }),
        fc.integer({ min: 1, max: 64 }),
        (all, max) => {
          const lanes = all.map((each, index) => aLane(`lane-${index}`, each));
          const inUse = all.reduce((sum, { sending }) => sum + sending, 0);
          const { takes } = plan(lanes, { ...BOUNDS, inFlightMax: max });
          const taken = Object.values(takes).reduce((sum, take) => sum + take, 0);
          expect(taken).toBeLessThanOrEqual(Math.max(0, max - inUse));
          for (const [id, take] of Object.entries(takes)) {
            const { inFlight, unrecorded } = lanes.find((each) => each.id === id)!;
            const out = inFlight.size - unrecorded.size;
            expect(take + out).toBeLessThanOrEqual(BOUNDS.perLaneMax);
            expect(take + inFlight.size).toBeLessThanOrEqual(2 * BOUNDS.perLaneMax);
          }
        },
      ),
    );
  });
});
