import type { Database } from '@pixmesh/postgres/pool';

import type { OutcomeRecorder } from '#attempts/outcome-recorder.ts';
import { toPoll } from '#lanes/owned-lane.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import type { DeliveryRates } from './delivery-rates.ts';
import type { LaneKeeper } from './lane-keeper.ts';
import type { LaneRequest } from './fetch-due.sql.ts';
import { planFetch } from './plan-fetch.ts';
import type { RunningSends } from './running-sends.ts';
import { createServeLanes } from './serve-lanes.ts';
import { createWaitingAccounts } from './waiting-accounts.ts';

/** Idle lanes that one poll looks into, as a part of all slots. */
const IDLE_SHARE = 1 / 4;

type TurnDeps = {
  db: Database;
  clock: ScheduleClock;
  keeper: LaneKeeper;
  recorder: Pick<OutcomeRecorder, 'isStoringLate'>;
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
  /** Whether one is under way, or the last one has been: lanes are fetched, released and returned. */
  isBusy(): boolean;
  /** The number that the last lane was served under before the turn that is under way. */
  lastServed(): number;
  /** Whether lanes of the account wait for slots or for its rate. */
  isWaiting(accountId: string): boolean;
  /** Returns whether another turn should follow at once. */
  turn(isPoll: boolean): Promise<boolean>;
  /** The last one has been: lanes can be returned. */
  end(): void;
};

/**
 * One turn of a sender: lanes are released, claimed and renewed, what is due in them is fetched, and its sends begin.
 * Each step is one statement for all lanes that it concerns, and none where it concerns none.
 */
export function createSenderTurns(deps: TurnDeps): SenderTurns {
  const { keeper, rates, sends, inFlightMax } = deps;
  let mayClaim = true;
  let isSaturated = false;
  const waiting = createWaitingAccounts();
  const serveLanes = createServeLanes({ ...deps, markDue });
  let isBusy = false;
  let servedBefore = 0;
  return {
    markDue,
    isSaturated: () => isSaturated,
    isBusy: () => isBusy,
    lastServed: () => (isBusy ? servedBefore : keeper.lastServed()),
    isWaiting: (accountId) => waiting.current().has(accountId),
    turn: async (isPoll) => {
      servedBefore = keeper.lastServed();
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
      else lane.mayBeDue = true;
    }
  }

  async function turn(isPoll: boolean): Promise<boolean> {
    if (deps.recorder.isStoringLate()) {
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
    const isMore = plan.requests.length > 0 && (await serve(plan.requests));
    // Read before the next turn, by which a pause may have ended.
    waiting.note({
      lanes: keeper.lanes.values(),
      full: plan.fullAccounts,
      failing: plan.failingCounts,
      paused: rates.paused(),
    });
    return isMore || (mayClaim && sends.size() < inFlightMax);
  }

  /** What a limit leaves out stays marked as due, and is asked for again where others did not find what they got. */
  async function serve(planned: readonly LaneRequest[]): Promise<boolean> {
    const admitted = await rates.admit(planned);
    if (admitted.length === 0) return false;
    const { isCanceling, isReturned } = await serveLanes(admitted);
    return isCanceling || (isReturned && admitted.length < planned.length);
  }

  async function rotate(): Promise<void> {
    await keeper.rotate(waiting.takeNoted());
    mayClaim = true;
    const bounds = { idleMax: Math.ceil(inFlightMax * IDLE_SHARE), nowMs: performance.now() };
    for (const lane of toPoll(keeper.lanes.values(), bounds)) lane.mayBeDue = true;
  }
}
