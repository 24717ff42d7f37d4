import { type OwnedLane, roomForRecovered, roomOf, wantsOther } from '#lanes/owned-lane.ts';

import type { LaneRequest } from './fetch-due.sql.ts';

/** While fewer slots are free than this part of all, a lane that has not proven itself gets one at a time. */
const SCARCE_SHARE = 1 / 2;
/** Lanes whose last attempt failed share this part of all slots: what hangs leaves the rest to the others. */
const FAILING_SHARE = 1 / 2;
/** What is recovered shares this part of all slots: it waits for live deliveries, never they for it. */
const RECOVERED_SHARE_OF_ALL = 1 / 8;

type Bounds = { inFlightMax: number; perLaneMax: number; nowMs: number };

export type FetchPlan = {
  requests: LaneRequest[];
  /** Whether lanes had to wait because no slot was left for them. */
  isSaturated: boolean;
};

/**
 * Divides the free slots among the lanes in which something may be due, in the order in which they are given: each gets
 * an equal share before any gets more.
 */
export function planFetch(lanes: ReadonlyMap<string, OwnedLane>, bounds: Bounds): FetchPlan {
  const { inFlightMax, perLaneMax, nowMs } = bounds;
  const inUse = inFlightOf(lanes.values());
  const free = inFlightMax - inUse.all;
  const isScarce = free < inFlightMax * SCARCE_SHARE;
  const wanted = [...lanes.values()].flatMap((lane) => {
    if (!lane.isDirty || lane.isResting) return [];
    const room = roomOf(lane, perLaneMax, nowMs);
    const most = isScarce && !lane.isProven ? Math.min(room, 1 - lane.inFlight.size) : room;
    return most > 0 ? [{ lane, most }] : [];
  });
  const budget = {
    free,
    failing: Math.ceil(inFlightMax * FAILING_SHARE) - inUse.failing,
    recovered: Math.ceil(inFlightMax * RECOVERED_SHARE_OF_ALL) - inUse.recovered,
  };
  const share = Math.max(1, Math.floor(free / Math.max(1, wanted.length)));
  const requests: LaneRequest[] = [];
  for (const { lane, most } of wanted) {
    const take = Math.min(most, share, budget.free, lane.failureCount > 0 ? budget.failing : most);
    if (take <= 0) continue;
    budget.free -= take;
    if (lane.failureCount > 0) budget.failing -= take;
    const room = Math.min(roomForRecovered(lane, perLaneMax), Math.max(0, budget.recovered));
    const recovered = Math.min(take, room);
    budget.recovered -= recovered;
    requests.push({
      id: lane.id,
      take,
      recovered,
      wantsOther: wantsOther(lane, take),
      inFlight: [...lane.inFlight],
    });
  }
  return { requests, isSaturated: budget.free <= 0 && wanted.length > 0 };
}

function inFlightOf(lanes: Iterable<OwnedLane>) {
  const inUse = { all: 0, failing: 0, recovered: 0 };
  for (const { inFlight, recovering, failureCount } of lanes) {
    inUse.all += inFlight.size;
    if (failureCount > 0) inUse.failing += inFlight.size;
    inUse.recovered += recovering.size;
  }
  return inUse;
}
