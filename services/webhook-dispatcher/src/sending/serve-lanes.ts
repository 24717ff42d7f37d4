import type { Database } from '@pixmesh/postgres/pool';

import type { DueDelivery } from '#attempts/due-delivery.ts';
import { sendsRepeated } from '#reports.ts';
import { cancelLanes } from '#lanes/cancel-lanes.sql.ts';
import { countRepeats, type OwnedLane } from '#lanes/owned-lane.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import type { DeliveryRates } from './delivery-rates.ts';
import { fetchDue, type LaneRequest } from './fetch-due.sql.ts';
import type { LaneKeeper } from './lane-keeper.ts';
import type { RunningSends } from './running-sends.ts';

type ServeDeps = {
  db: Database;
  clock: ScheduleClock;
  keeper: Pick<LaneKeeper, 'lanes' | 'markServed'>;
  rates: Pick<DeliveryRates, 'returnUnused' | 'hasWaited'>;
  sends: Pick<RunningSends, 'begin'>;
  inFlightPerLaneMax: number;
  /** Marks lanes in which more is to be done. */
  markDue(laneIds: readonly string[]): void;
};

type FoundInLane = {
  lane: OwnedLane;
  request: LaneRequest;
  found: DueDelivery[];
  fetchedMs: number;
};

/** What a further turn is for: deliveries of deleted endpoints to cancel, and what a limit allows and was not found. */
export type Served = { isCanceling: boolean; isReturned: boolean };

/** Fetches what is due in lanes and begins its sends. */
export function createServeLanes(
  deps: ServeDeps,
): (requests: readonly LaneRequest[]) => Promise<Served> {
  const { db, clock, keeper, rates } = deps;
  return async (requests) => {
    for (const { id } of requests) {
      const lane = keeper.lanes.get(id);
      if (lane === undefined) continue;
      // Before the fetch: a lane that is marked while it runs is fetched again.
      lane.mayBeDue = false;
      lane.fetchedMs = performance.now();
      keeper.markServed(lane);
    }
    const { due, deletedLaneIds } = await fetchDue(db, clock, requests).catch((error: unknown) => {
      deps.markDue(requests.map(({ id }) => id));
      throw error;
    });
    const byLane = Map.groupBy(due, ({ laneId }) => laneId);
    const fetchedMs = performance.now();
    for (const request of requests) {
      const lane = keeper.lanes.get(request.id);
      const found = byLane.get(request.id);
      if (lane !== undefined && found !== undefined) {
        begin(deps, { lane, request, found, fetchedMs });
      }
    }
    const isReturned = await rates.returnUnused(requests, due);
    const isCanceling = deletedLaneIds.length > 0 && (await cancel(deletedLaneIds));
    return { isCanceling, isReturned };
  };

  /**
   * One batch: the rest is for further turns, between which other lanes have theirs. Locked rows wait for a later one.
   */
  async function cancel(laneIds: readonly string[]): Promise<boolean> {
    const isMore = (await cancelLanes(db, laneIds)) > 0;
    if (isMore) deps.markDue(laneIds);
    return isMore;
  }
}

function begin(deps: ServeDeps, { lane, request, found, fetchedMs }: FoundInLane): void {
  const { rates, sends, inFlightPerLaneMax } = deps;
  const isAll = found.length < request.take;
  lane.activeMs = fetchedMs;
  if (!isAll) lane.mayBeDue = true;
  sendsRepeated(countRepeats(lane, { count: found.length, isAll }, inFlightPerLaneMax));
  for (const due of found) {
    const happenedMs = fetchedMs - due.eventAgeSeconds * 1_000;
    const wasRateLimited = rates.hasWaited(lane.accountId, happenedMs);
    sends.begin({ due, lane, fetchedMs, wasRateLimited });
  }
}
