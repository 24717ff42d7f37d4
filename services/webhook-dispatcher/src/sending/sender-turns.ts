import type { Database } from '@pixmesh/postgres/pool';

import type { DueDelivery, QueuedDelivery } from '#attempts/due-delivery.ts';
import type { OutcomeRecorder } from '#attempts/outcome-recorder.ts';
import { sendsRepeated } from '#events.ts';
import { cancelLanes } from '#lanes/cancel-lanes.sql.ts';
import { countRepeats, type OwnedLane, roomOf } from '#lanes/owned-lane.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import type { DeliveryRates } from './delivery-rates.ts';
import { fetchDue, type LaneRequest } from './fetch-due.sql.ts';
import type { LaneKeeper } from './lane-keeper.ts';
import { planFetch, SCARCE_SHARE } from './plan-fetch.ts';
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
  /**
   * Before something is queued: the number of the last turn that a lane was given. What is queued from now on is found
   * by later ones only. Null while a turn is under way.
   */
  lastTurn(): number | null;
  /**
   * Begins the sends of what was queued after a turn, lane by lane, where nothing else waits. Answers the lanes of all
   * others.
   */
  sendQueued(queued: readonly QueuedDelivery[], afterTurn: number | null): string[];
  /** Returns whether another turn should follow at once. */
  turn(isPoll: boolean): Promise<boolean>;
  /** No send begins any more, so that lanes can be returned. */
  end(): void;
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
  /** A turn is under way, or the last one has been: lanes are fetched, released and returned. */
  let isBusy = false;
  return {
    markDue,
    isSaturated: () => isSaturated,
    lastTurn: () => (isBusy ? null : turnCount),
    sendQueued,
    turn: async (isPoll) => {
      isBusy = true;
      return await turn(isPoll).finally(() => (isBusy = false));
    },
    end: () => (isBusy = true),
  };

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
      noteTurn(lane);
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

  function noteTurn(lane: OwnedLane): void {
    turnCount += 1;
    lane.lastTurn = turnCount;
  }

  /**
   * Not beside a turn, which may be fetching them or releasing their lane, nor where one may have found them since they
   * were stored: they would be sent twice. Behind anything that waits they wait too: accounts and lanes have their turns
   * only there.
   */
  function sendQueued(queued: readonly QueuedDelivery[], afterTurn: number | null): string[] {
    const isBeside = isBusy || afterTurn === null;
    return [...Map.groupBy(queued, ({ laneId }) => laneId)].flatMap(([laneId, ofLane]) => {
      const lane = keeper.lanes.get(laneId);
      const due = ofLane.flatMap((delivery) => delivery.due ?? []);
      const isFetched = isBeside || lane === undefined || lane.lastTurn > afterTurn;
      if (isFetched || due.length < ofLane.length || !mayBegin(lane, due)) return [laneId];
      begin(lane, due);
      return [];
    });
  }

  function begin(lane: OwnedLane, queued: readonly DueDelivery[]): void {
    noteTurn(lane);
    const fetchedMs = performance.now();
    lane.activeMs = fetchedMs;
    for (const due of queued) sends.begin({ due, lane, fetchedMs, isHeldBack: false });
  }

  /** Whether nothing else waits for the slots of the lane, of its account or of the process, and none will have to. */
  function mayBegin(lane: OwnedLane, due: readonly DueDelivery[]): boolean {
    const { isDirty, isDraining, isTakenOver, failureCount, accountId } = lane;
    if (isDirty || isDraining || isTakenOver || failureCount > 0) return false;
    if (deps.recorder.isBehind() || rates.isLimited(accountId)) return false;
    if (waiting.current().has(accountId)) return false;
    const room = roomOf(lane, deps.inFlightPerLaneMax, performance.now());
    return due.length <= room && sends.size() + due.length <= inFlightMax * (1 - SCARCE_SHARE);
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
