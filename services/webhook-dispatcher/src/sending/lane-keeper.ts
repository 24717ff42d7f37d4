import { NIL_ID } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { laneLost, lanesTakenOver } from '#reports.ts';
import { claimLanes, renewLanes } from '#lanes/claim-lanes.sql.ts';
import { START_MARGIN_MS } from '#lanes/lease.ts';
import { type OwnedLane, toOwnedLane } from '#lanes/owned-lane.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import { createLaneRotation, type LaneRotation, LANES_MAX } from './lane-rotation.ts';

/** Lanes per claim. */
const CLAIM_MAX = 64;

/**
 * For so long after an outage no lane is taken over: its owner may live and still have outcomes to store. A sender
 * pauses up to 2 s after a failure and its recorder up to 2 s more; the rest is room for the commits.
 */
const TAKE_OVER_AFTER_MS = 10_000;

type KeeperDeps = {
  db: Database;
  logger: Logger;
  clock: ScheduleClock;
  timeoutMs: number;
  leaseMs: number;
  processId: string;
};

export type LaneKeeper = Omit<LaneRotation, 'returned'> & {
  readonly lanes: Map<string, OwnedLane>;
  /** The lane is served: it comes behind all others. */
  markServed(lane: OwnedLane): void;
  /** The number that the last lane was served under. */
  lastServed(): number;
  /**
   * Claims lanes in which something is due, as many as there may be slots for, and none of accounts whose own already
   * wait here, for slots, or many of them for their rate or because they fail: those are left to other senders. Answers
   * whether there may be more.
   */
  claim(slots: number, waitingAccounts: ReadonlySet<string>): Promise<boolean>;
  /** The database was away. For a while no lane is taken over: its owner lives, and has outcomes to store first. */
  noteOutage(): void;
  /** Renews the leases of lanes that have something to do, so that requests may begin; drops those that are lost. */
  renew(): Promise<void>;
};

/** The lanes that this process serves and their leases. */
export function createLaneKeeper(deps: KeeperDeps): LaneKeeper {
  const { db, logger, clock, timeoutMs, leaseMs, processId } = deps;
  const lanes = new Map<string, OwnedLane>();
  /** The account of the last lane that was claimed. */
  let after: string = NIL_ID;
  let awayMs = -Infinity;
  let served = 0;
  const rotation = createLaneRotation({ db, clock, lanes });
  // Half of what a request does not need: renewed twice before one could not begin.
  const renewBelowMs = (leaseMs + timeoutMs + START_MARGIN_MS) / 2;
  return { ...rotation, lanes, markServed, lastServed: () => served, claim, noteOutage, renew };

  function markServed(lane: OwnedLane): void {
    served += 1;
    lane.servedNumber = served;
  }

  async function claim(slots: number, waitingAccounts: ReadonlySet<string>): Promise<boolean> {
    const limit = Math.min(CLAIM_MAX, slots, LANES_MAX - lanes.size);
    if (limit <= 0) return false;
    const leaseEndsMs = performance.now() + leaseMs;
    const owned = [...lanes.keys(), ...rotation.returned()];
    const options = {
      clock,
      limit,
      leaseMs,
      processId,
      owned,
      waitingAccounts: [...waitingAccounts],
      mayTakeOver: performance.now() - awayMs > TAKE_OVER_AFTER_MS,
      after,
    };
    const claimed = await claimLanes(db, options);
    after = claimed.at(-1)?.accountId ?? after;
    for (const lane of claimed) lanes.set(lane.id, toOwnedLane(lane, leaseEndsMs));
    const takenOver = claimed.filter(({ isTakenOver }) => isTakenOver);
    lanesTakenOver(
      logger,
      takenOver.map(({ id }) => id),
    );
    return claimed.length === limit;
  }

  function noteOutage(): void {
    awayMs = performance.now();
  }

  async function renew(): Promise<void> {
    const leaseEndsMs = performance.now() + leaseMs;
    const due = [...lanes.values()].filter(
      (lane) =>
        (lane.mayBeDue || lane.inFlight.size > 0) &&
        lane.leaseEndsMs - performance.now() < renewBelowMs,
    );
    if (due.length === 0) return;
    const owned = new Map(
      (await renewLanes(db, { clock, leaseMs, lanes: due })).map((lane) => [lane.id, lane]),
    );
    for (const lane of due) {
      const found = owned.get(lane.id);
      if (found === undefined) {
        drop(lane);
        continue;
      }
      if (found.isRenewed) lane.leaseEndsMs = leaseEndsMs;
      lane.accountId = found.accountId;
    }
  }

  /** Outcomes of a lost lane are refused by its fence; the sender that owns it then sends again. */
  function drop(lane: OwnedLane): void {
    lane.leaseEndsMs = -Infinity;
    lanes.delete(lane.id);
    laneLost(logger, lane.id);
  }
}
