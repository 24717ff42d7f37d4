import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { laneLost, lanesTakenOver } from '#events.ts';
import { claimLanes, renewLanes } from '#lanes/claim-lanes.sql.ts';
import { START_MARGIN_MS } from '#lanes/lease.ts';
import { type OwnedLane, toOwnedLane } from '#lanes/owned-lane.ts';
import { returnLanes, releaseLanes } from '#lanes/release-lanes.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

/** Lanes per claim. */
const CLAIM_MAX = 64;
/** Lanes that a process has at most. */
const LANES_MAX = 4_096;
/** A lane with nothing to do is released after this long. */
const IDLE_MS = 1_000;
/** Deliveries of a lane after which it is returned, while other lanes wait for slots. */
const QUANTUM = 50;
/** A returned lane is not claimed again for this long: every other sender polls meanwhile. */
const RETURNED_MS = 400;

type KeeperDeps = {
  db: Database;
  logger: Logger;
  clock: ScheduleClock;
  timeoutMs: number;
  leaseMs: number;
};

export type LaneKeeper = {
  readonly lanes: Map<string, OwnedLane>;
  /** Claims lanes in which something is due, as many as there may be slots for; answers whether there may be more. */
  claim(slots: number): Promise<boolean>;
  /** Renews the leases of lanes that have something to do, so that requests may begin; drops those that are lost. */
  renew(): Promise<void>;
  /** Releases what is idle and, where lanes wait for slots, returns those whose turn is over. */
  rotate(isSaturated: boolean): Promise<void>;
  /** Returns every lane of which nothing is in flight. */
  returnIdle(): Promise<void>;
};

/** The lanes that this process serves and their leases. */
export function createLaneKeeper(deps: KeeperDeps): LaneKeeper {
  const { db, logger, clock, timeoutMs, leaseMs } = deps;
  const lanes = new Map<string, OwnedLane>();
  /** Lanes that were returned, and when. */
  const returned = new Map<string, number>();
  // Half of what a request does not need: renewed twice before one could not begin.
  const renewBelowMs = (leaseMs + timeoutMs + START_MARGIN_MS) / 2;
  return { lanes, claim, renew, rotate, returnIdle };

  async function claim(slots: number): Promise<boolean> {
    const limit = Math.min(CLAIM_MAX, slots, LANES_MAX - lanes.size);
    if (limit <= 0) return false;
    const leaseEndsMs = performance.now() + leaseMs;
    const owned = [...lanes.keys(), ...returned.keys()];
    const claimed = await claimLanes(db, { clock, limit, leaseMs, owned });
    for (const lane of claimed) lanes.set(lane.id, toOwnedLane(lane, leaseEndsMs));
    const takenOver = claimed.filter(({ isTakenOver }) => isTakenOver);
    lanesTakenOver(
      logger,
      takenOver.map(({ id }) => id),
    );
    return claimed.length === limit;
  }

  async function renew(): Promise<void> {
    const leaseEndsMs = performance.now() + leaseMs;
    const due = [...lanes.values()].filter(
      (lane) =>
        (lane.isDirty || lane.inFlight.size > 0) &&
        lane.leaseEndsMs - performance.now() < renewBelowMs,
    );
    if (due.length === 0) return;
    const renewed = await renewLanes(db, { clock, leaseMs, lanes: due });
    for (const lane of due) {
      if (renewed.has(lane.id)) lane.leaseEndsMs = leaseEndsMs;
      else drop(lane);
    }
  }

  /** Outcomes of a lost lane are refused by its fence; the sender that owns it then sends again. */
  function drop(lane: OwnedLane): void {
    lane.leaseEndsMs = -Infinity;
    lanes.delete(lane.id);
    laneLost(logger, lane.id);
  }

  async function rotate(isSaturated: boolean): Promise<void> {
    const nowMs = performance.now();
    for (const [id, returnedMs] of returned) {
      if (nowMs - returnedMs > RETURNED_MS) returned.delete(id);
    }
    for (const lane of lanes.values()) {
      if (!isSaturated) lane.servedCount = 0;
      else if (lane.servedCount >= QUANTUM) lane.isResting = true;
    }
    const free = [...lanes.values()].filter((lane) => lane.inFlight.size === 0);
    const over = free.filter((lane) => lane.isResting || (isSaturated && lane.isDirty));
    if (over.length > 0) await returnToOthers(over);
    const idle = free.filter((lane) => lanes.has(lane.id) && nowMs - lastBusyMs(lane) > IDLE_MS);
    if (idle.length === 0) return;
    for (const id of await releaseLanes(db, clock, idle)) lanes.delete(id);
  }

  async function returnIdle(): Promise<void> {
    const idle = [...lanes.values()].filter((lane) => lane.inFlight.size === 0);
    if (idle.length > 0) await returnToOthers(idle);
  }

  async function returnToOthers(over: readonly OwnedLane[]): Promise<void> {
    await returnLanes(db, clock, over);
    for (const { id } of over) {
      lanes.delete(id);
      returned.set(id, performance.now());
    }
  }
}

/** A lane that waits for its probe is not idle. */
function lastBusyMs(lane: OwnedLane): number {
  return Math.max(lane.activeMs, lane.probeAtMs ?? 0);
}
