import type { Database } from '@pixmesh/postgres/pool';

import type { DueDelivery } from '#attempts/due-delivery.ts';
import type { OutcomeRecorder } from '#attempts/outcome-recorder.ts';
import { sendsRepeated } from '#events.ts';
import { cancelLanes } from '#lanes/cancel-lanes.sql.ts';
import { countRepeats, type OwnedLane } from '#lanes/owned-lane.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import type { DeliveryRates } from './delivery-rates.ts';
import { fetchDue, type LaneRequest } from './fetch-due.sql.ts';
import type { LaneKeeper } from './lane-keeper.ts';
import { planFetch } from './plan-fetch.ts';
import type { RunningSends } from './running-sends.ts';
import { createWaitingAccounts } from './waiting-accounts.ts';

type TurnDeps = {
  db: Database;
  clock: ScheduleClock;
  keeper: LaneKeeper;
  recorder: Pick<OutcomeRecorder, 'isBehind'>;
  rates: DeliveryRates;
  sends: Pick<RunningSends, 'size' | 'begin'>;
  inFlightMax: number;
  inFlightPerLaneMax: number;
};

export type SenderTurns = {
  /** Marks lanes in which something may be due; all lanes where none is named. */
  markDue(laneIds: readonly string[]): void;
  /** Whether lanes wait for slots. */
  isSaturated(): boolean;
  /** Returns whether another turn should follow at once. */
  turn(isPoll: boolean): Promise<boolean>;
};

type FoundInLane = {
  lane: OwnedLane;
  request: LaneRequest;
  found: DueDelivery[];
  fetchedMs: number;
};

/**
 * One turn of a sender: lanes are released, claimed and renewed, what is due in them is fetched, and its sends begin.
 * Each step is one statement for all lanes that it concerns, and none where it concerns none.
 */
export function createSenderTurns(deps: TurnDeps): SenderTurns {
  const { db, clock, keeper, rates, sends, inFlightMax } = deps;
  let mayClaim = true;
  let isSaturated = false;
  const waiting = createWaitingAccounts();
  let turnCount = 0;
  return { markDue, isSaturated: () => isSaturated, turn };

  function markDue(laneIds: readonly string[]): void {
    const isAll = laneIds.length === 0;
    if (isAll) mayClaim = true;
    for (const id of isAll ? keeper.lanes.keys() : laneIds) {
      const lane = keeper.lanes.get(id);
      if (lane === undefined) mayClaim = true;
      else lane.isDirty = true;
    }
  }

  async function turn(isPoll: boolean): Promise<boolean> {
    if (deps.recorder.isBehind()) {
      keeper.noteOutage();
      return false;
    }
    if (isPoll) await rotate();
    if (mayClaim && sends.size() < inFlightMax) {
      mayClaim = false;
      // What is marked meanwhile may have been committed too late for this claim.
      if (await keeper.claim(inFlightMax - sends.size(), waiting.current())) mayClaim = true;
    }
    await keeper.renew();
    const plan = planFetch(keeper.lanes, {
      inFlightMax,
      perLaneMax: deps.inFlightPerLaneMax,
      nowMs: performance.now(),
      pausedAccounts: rates.paused(),
    });
    isSaturated = plan.isSaturated;
    // What a limit leaves out stays marked as due.
    const requests = plan.requests.length > 0 ? await rates.admit(plan.requests) : [];
    const isCanceling = requests.length > 0 && (await fetch(requests));
    // Read before the next turn, by which a pause may have ended.
    waiting.note({ lanes: keeper.lanes.values(), full: plan.fullAccounts, paused: rates.paused() });
    return isCanceling || (mayClaim && sends.size() < inFlightMax);
  }

  async function rotate(): Promise<void> {
    await keeper.rotate(waiting.takeNoted());
    markDue([]);
  }

  /** Returns whether deliveries of deleted endpoints are left to cancel. */
  async function fetch(requests: readonly LaneRequest[]): Promise<boolean> {
    for (const { id } of requests) {
      const lane = keeper.lanes.get(id);
      if (lane === undefined) continue;
      // Before the fetch: a lane that is marked while it runs is fetched again.
      lane.isDirty = false;
      turnCount += 1;
      lane.lastTurn = turnCount;
    }
    const { due, deletedLaneIds } = await fetchDue(db, clock, requests);
    const byLane = Map.groupBy(due, ({ laneId }) => laneId);
    const fetchedMs = performance.now();
    for (const request of requests) {
      const lane = keeper.lanes.get(request.id);
      const found = byLane.get(request.id);
      if (lane !== undefined && found !== undefined) {
        serve(deps, { lane, request, found, fetchedMs });
      }
    }
    await rates.settle(requests, due);
    return deletedLaneIds.length > 0 && (await cancel(deletedLaneIds));
  }

  /**
   * One batch: the rest is for further turns, between which other lanes have theirs. Locked rows wait for a later one.
   */
  async function cancel(laneIds: readonly string[]): Promise<boolean> {
    const isMore = (await cancelLanes(db, laneIds)) > 0;
    if (isMore) markDue(laneIds);
    return isMore;
  }
}

function serve(deps: TurnDeps, { lane, request, found, fetchedMs }: FoundInLane): void {
  const { rates, sends, inFlightPerLaneMax } = deps;
  const isAll = found.length < request.take;
  lane.activeMs = fetchedMs;
  if (!isAll) lane.isDirty = true;
  sendsRepeated(countRepeats(lane, found.length, inFlightPerLaneMax));
  if (isAll) lane.isTakenOver = false;
  const isHeldBack = rates.isHeldBack(lane.accountId);
  for (const due of found) sends.begin({ due, lane, fetchedMs, isHeldBack });
}
