import type { Database } from '@pixmesh/postgres/pool';

import type { DueDelivery } from '#attempts/due-delivery.ts';
import type { OutcomeRecorder } from '#attempts/outcome-recorder.ts';
import { sendsRepeated } from '#events.ts';
import { cancelLanes } from '#lanes/cancel-lanes.sql.ts';
import type { OwnedLane } from '#lanes/owned-lane.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import { fetchDue, type LaneWish } from './fetch-due.sql.ts';
import type { LaneKeeper } from './lane-keeper.ts';
import { planFetch } from './plan-fetch.ts';
import type { RunningSends } from './running-sends.ts';

type TurnDeps = {
  db: Database;
  clock: ScheduleClock;
  keeper: LaneKeeper;
  recorder: Pick<OutcomeRecorder, 'isBehind'>;
  sends: RunningSends;
  inFlightMax: number;
  inFlightPerLaneMax: number;
};

export type SenderTurns = {
  /** Something may be due in these lanes; in any where none is named. */
  look(laneIds: readonly string[]): void;
  /** Whether lanes wait for slots. */
  isSaturated(): boolean;
  /** Answers whether another turn should follow at once. */
  turn(isPoll: boolean): Promise<boolean>;
};

/**
 * One turn of a sender: lanes are let go, claimed and renewed, what is due in them is fetched, and its sends begin.
 * Each step is one statement for all lanes that it concerns, and none where it concerns none.
 */
export function createSenderTurns(deps: TurnDeps): SenderTurns {
  const { db, clock, keeper, sends, inFlightMax } = deps;
  let mayClaim = true;
  let isSaturated = false;
  let wasSaturatedSincePoll = false;
  return { look, isSaturated: () => isSaturated, turn };

  function look(laneIds: readonly string[]): void {
    const all = laneIds.length === 0;
    if (all) mayClaim = true;
    for (const id of all ? keeper.lanes.keys() : laneIds) {
      const lane = keeper.lanes.get(id);
      if (lane === undefined) mayClaim = true;
      else lane.isDirty = true;
    }
  }

  async function turn(isPoll: boolean): Promise<boolean> {
    if (deps.recorder.isBehind()) return false;
    if (isPoll) await rotate();
    // Whose own lanes wait for slots leaves further ones to others, and to its own next turns.
    if (mayClaim && !isSaturated) {
      mayClaim = false;
      mayClaim = await keeper.claim(inFlightMax - sends.size());
    }
    await keeper.renew();
    const bounds = { inFlightMax, perLaneMax: deps.inFlightPerLaneMax, nowMs: performance.now() };
    const plan = planFetch(keeper.lanes, bounds);
    isSaturated = plan.isSaturated;
    wasSaturatedSincePoll ||= isSaturated;
    const isEmptying = plan.wishes.length > 0 && (await fetch(plan.wishes));
    return isEmptying || (mayClaim && !isSaturated);
  }

  async function rotate(): Promise<void> {
    await keeper.rotate(wasSaturatedSincePoll);
    wasSaturatedSincePoll = false;
    look([]);
  }

  /** Answers whether lanes are left to be emptied. */
  async function fetch(wishes: readonly LaneWish[]): Promise<boolean> {
    for (const { id } of wishes) {
      const lane = keeper.lanes.get(id);
      // From here on whoever says that something is due is heard again.
      if (lane !== undefined) lane.isDirty = false;
    }
    const { due, deletedLaneIds } = await fetchDue(db, clock, wishes);
    const byLane = Map.groupBy(due, ({ laneId }) => laneId);
    const fetchedMs = performance.now();
    for (const wish of wishes) {
      const lane = keeper.lanes.get(wish.id);
      const found = byLane.get(wish.id);
      if (lane !== undefined && found !== undefined) serve(lane, { wish, found, fetchedMs });
    }
    return deletedLaneIds.length > 0 && (await empty(deletedLaneIds));
  }

  function serve(
    lane: OwnedLane,
    { wish, found, fetchedMs }: { wish: LaneWish; found: DueDelivery[]; fetchedMs: number },
  ): void {
    lane.activeMs = fetchedMs;
    if (found.length >= wish.take) lane.isDirty = true;
    if (lane.isTakenOver) sendsRepeated(found.length);
    lane.isTakenOver = false;
    for (const due of found) sends.begin({ due, lane, fetchedMs });
    // The map's order is the order of turns.
    keeper.lanes.delete(lane.id);
    keeper.lanes.set(lane.id, lane);
  }

  /**
   * One batch of what is left in lanes of deleted endpoints: the rest is for further turns, between which other lanes
   * have theirs. What somebody has locked waits for the next look.
   */
  async function empty(laneIds: readonly string[]): Promise<boolean> {
    const isMore = (await cancelLanes(db, laneIds)) > 0;
    if (isMore) look(laneIds);
    return isMore;
  }
}
