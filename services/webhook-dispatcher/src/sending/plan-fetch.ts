import { createPlaces, type Places } from '@pixmesh/fair-share/places';
import { fourTimesFree } from '@pixmesh/fair-share/share-of-places';

import { type OwnedLane, roomForRecovered, roomOf, wantsOther } from '#lanes/owned-lane.ts';

import type { LaneRequest } from './fetch-due.sql.ts';

/** While fewer slots are free than this part of all, a lane that has not proven itself gets one at a time. */
export const SCARCE_SHARE = 1 / 2;
/** Lanes whose last attempt failed share this part of all slots: what hangs leaves the rest to the others. */
const FAILING_SHARE = 1 / 2;
/** What is recovered shares this part of all slots: it waits for live deliveries, never they for it. */
const RECOVERED_SHARE = 1 / 8;

type Bounds = {
  inFlightMax: number;
  perLaneMax: number;
  nowMs: number;
  /** Accounts of which nothing may be sent at this moment. */
  pausedAccounts: ReadonlySet<string>;
};

export type FetchPlan = {
  /** In the order in which they were last served. */
  requests: LaneRequest[];
  /** Accounts that have lanes which got no slot. */
  fullAccounts: Set<string>;
  /** How many lanes that fail got no slot, by account: these are shared apart, and others of the account may find one. */
  failingCounts: Map<string, number>;
  /** Whether a lane may have got less than is due in it. */
  isSaturated: boolean;
};

/** A lane in which something may be due, and what the plan gives it. */
type LaneDemand = { lane: OwnedLane; takeMax: number; take: number; recovered: number };
/** Lanes of one account, in turn; `refused` are those that fail, for which there was no more slot of that pool. */
type AccountLanes = { accountId: string; lanes: LaneDemand[]; refused: LaneDemand[] };
type Pools = Record<'all' | 'failing' | 'recovered', Places>;

/**
 * Divides the free slots: one to each account in turn, then a second one to each, and within an account to its lanes in
 * turn; the one that was served longest ago begins. Nothing that may have a free slot is left out.
 */
export function planFetch(lanes: ReadonlyMap<string, OwnedLane>, bounds: Bounds): FetchPlan {
  const pools = readPools(lanes.values(), bounds.inFlightMax);
  const served = new Set<LaneDemand>();
  const fullAccounts = new Set<string>();
  const failingCounts = new Map<string, number>();
  let isSaturated = false;
  let accounts = groupByAccount(lanes.values(), bounds, pools);
  while (accounts.length > 0) {
    accounts = accounts.filter((account) => {
      const demand = serveNext(account, pools, bounds);
      // At the end of the order again.
      if (demand !== null) {
        served.delete(demand);
        served.add(demand);
        return true;
      }
      const { accountId, lanes: rest, refused } = account;
      if (rest.length > 0 || refused.length > 0) isSaturated = true;
      if (rest.some(gotNone)) fullAccounts.add(accountId);
      add(failingCounts, accountId, refused.filter(gotNone).length);
      return false;
    });
  }
  return { requests: [...served].map(toRequest), fullAccounts, failingCounts, isSaturated };
}

/** One that got a slot does not wait for others: it may have no more than one delivery due. */
function gotNone({ take }: LaneDemand): boolean {
  return take === 0;
}

/** Gives a slot to the next lane of an account; null where none of them may have one. */
function serveNext(account: AccountLanes, pools: Pools, { perLaneMax }: Bounds): LaneDemand | null {
  const { accountId, lanes, refused } = account;
  while (lanes.length > 0 && pools.all.mayTake(accountId)) {
    const demand = lanes.shift()!;
    const isFailing = demand.lane.failureCount > 0;
    if (isFailing && !pools.failing.mayTake(accountId)) {
      refused.push(demand);
      continue;
    }
    pools.all.take(accountId);
    if (isFailing) pools.failing.take(accountId);
    demand.take += 1;
    if (
      demand.recovered < roomForRecovered(demand.lane, perLaneMax) &&
      pools.recovered.mayTake(accountId)
    ) {
      pools.recovered.take(accountId);
      demand.recovered += 1;
    }
    if (demand.take < demand.takeMax) lanes.push(demand);
    return demand;
  }
  return null;
}

function toRequest({ lane, take, recovered }: LaneDemand): LaneRequest {
  const inFlight = [...lane.inFlight];
  return { id: lane.id, take, recovered, wantsOther: wantsOther(lane, take), inFlight };
}

/** Lanes that may have more, by account; both in the order in which they were last served. */
function groupByAccount(lanes: Iterable<OwnedLane>, bounds: Bounds, pools: Pools): AccountLanes[] {
  const { inFlightMax, perLaneMax, nowMs, pausedAccounts } = bounds;
  const isScarce = pools.all.free() < inFlightMax * SCARCE_SHARE;
  const lastServed = new Map<string, number>();
  const demands: LaneDemand[] = [];
  for (const lane of lanes) {
    const { accountId, servedNumber } = lane;
    lastServed.set(accountId, Math.max(servedNumber, lastServed.get(accountId) ?? 0));
    if (!lane.mayBeDue || lane.isDraining || pausedAccounts.has(accountId)) continue;
    const room = roomOf(lane, perLaneMax, nowMs);
    const takeMax = isScarce && !lane.isProven ? Math.min(room, 1 - lane.inFlight.size) : room;
    if (takeMax > 0) demands.push({ lane, takeMax, take: 0, recovered: 0 });
  }
  demands.sort((one, other) => one.lane.servedNumber - other.lane.servedNumber);
  const byAccount = Map.groupBy(demands, ({ lane }) => lane.accountId);
  return [...byAccount]
    .map(([accountId, ofAccount]) => ({ accountId, lanes: ofAccount, refused: [] }))
    .toSorted((one, other) => lastServedOf(one) - lastServedOf(other));

  function lastServedOf({ accountId }: AccountLanes): number {
    return lastServed.get(accountId) ?? 0;
  }
}

function readPools(lanes: Iterable<OwnedLane>, inFlightMax: number): Pools {
  const used: Record<keyof Pools, Counts> = {
    all: new Map(),
    failing: new Map(),
    recovered: new Map(),
  };
  for (const { accountId, inFlight, recovering, failureCount } of lanes) {
    add(used.all, accountId, inFlight.size);
    if (failureCount > 0) add(used.failing, accountId, inFlight.size);
    add(used.recovered, accountId, recovering.size);
  }
  const failingMax = Math.ceil(inFlightMax * FAILING_SHARE);
  const recoveredMax = Math.ceil(inFlightMax * RECOVERED_SHARE);
  return {
    all: createPlaces(inFlightMax, fourTimesFree, used.all),
    failing: createPlaces(failingMax, fourTimesFree, used.failing),
    recovered: createPlaces(recoveredMax, fourTimesFree, used.recovered),
  };
}

type Counts = Map<string, number>;

function add(counts: Counts, accountId: string, count: number): void {
  if (count > 0) counts.set(accountId, count + (counts.get(accountId) ?? 0));
}
