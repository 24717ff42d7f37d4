import type { Database } from '@pixmesh/postgres/pool';

import type { OwnedLane } from '#lanes/owned-lane.ts';
import { returnLanes, releaseLanes } from '#lanes/release-lanes.sql.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

/** Lanes that a process has at most. */
export const LANES_MAX = 4_096;
/** With fewer places free than this, lanes that fail and wait for a slot are returned: they keep away everybody else's. */
const PLACES_KEPT = 512;
/**
 * A lane with nothing to do is released after this long. One that waits for a slot or its rate has something to do. What
 * comes to a lane that is kept waits for no claim.
 */
const IDLE_MS = 5_000;
/** With more lanes than this an idle one is released sooner: what waits needs its place. */
const LANES_MANY = 2_048;
const IDLE_MS_OF_MANY = 1_000;
/** Deliveries of a lane after which it is returned, while other lanes of its account wait for slots. */
const QUANTUM = 50;
/**
 * After this long a lane that was served is returned, while many of its account wait for their rate, or while it fails
 * as many others do: at a low rate, or a receiver that hangs, a number of deliveries takes minutes. The others are kept
 * until they are served, so each is, in turn.
 */
const SLOW_TURN_MS = 5_000;
/** A returned lane is not claimed again for this long: every other sender polls meanwhile. */
const RETURNED_MS = 400;

/** Accounts of which lanes wait here. */
export type RotatedAccounts = {
  forSlots: ReadonlySet<string>;
  /** Those with many such lanes. */
  forRate: ReadonlySet<string>;
  /** Those with many lanes that fail and wait for slots. Their other lanes do not wait, and are kept. */
  ofFailing: ReadonlySet<string>;
};

type RotationDeps = { db: Database; clock: ScheduleClock; lanes: Map<string, OwnedLane> };

export type LaneRotation = {
  /** Lanes that are left to other senders for now. */
  returned(): Iterable<string>;
  /** Releases what is idle and, of accounts whose lanes wait, returns those whose turn is over. */
  rotate(waiting: RotatedAccounts): Promise<void>;
  /** Leaves this part of the lanes that have something to do to other senders, each once its sends have ended. */
  leave(share: number): void;
  /** Returns every lane of which nothing is in flight, or releases it where it has nothing to do. */
  returnIdle(): Promise<void>;
};

/** How lanes leave this process: to sleep, or to other senders. Never while a request of theirs is out. */
export function createLaneRotation({ db, clock, lanes }: RotationDeps): LaneRotation {
  /** Lanes that were returned, and when. */
  const returned = new Map<string, number>();
  return { returned: () => returned.keys(), rotate, leave, returnIdle };

  async function rotate(waiting: RotatedAccounts): Promise<void> {
    const { forSlots } = waiting;
    const nowMs = performance.now();
    for (const [id, returnedMs] of returned) {
      if (nowMs - returnedMs > RETURNED_MS) returned.delete(id);
    }
    for (const lane of lanes.values()) {
      if (forSlots.has(lane.accountId)) lane.isDraining ||= lane.servedCount >= QUANTUM;
      else if (isSlow(lane, waiting)) lane.isDraining ||= isServedLong(lane, nowMs);
      else lane.servedCount = 0;
    }
    const free = [...lanes.values()].filter((lane) => lane.inFlight.size === 0);
    const over = new Set(
      free.filter(
        ({ isDraining, mayBeDue, accountId }) =>
          isDraining || (mayBeDue && forSlots.has(accountId)),
      ),
    );
    const placesMissing = PLACES_KEPT - (LANES_MAX - lanes.size + over.size);
    for (const lane of lastFailing(free, placesMissing)) over.add(lane);
    if (over.size > 0) await returnToOthers([...over]);
    const idleMs = lanes.size > LANES_MANY ? IDLE_MS_OF_MANY : IDLE_MS;
    await release(
      free.filter(
        (lane) => lanes.has(lane.id) && !lane.mayBeDue && nowMs - lastBusyMs(lane) > idleMs,
      ),
    );
  }

  /** Those with the fewest requests out first: a lane that leaves begins none until its slowest one has ended. */
  function leave(share: number): void {
    const busy = [...lanes.values()].filter((lane) => lane.mayBeDue || lane.inFlight.size > 0);
    const leaving = busy.filter(({ isDraining }) => isDraining).length;
    const more = busy
      .filter(({ isDraining }) => !isDraining)
      .toSorted((one, other) => one.inFlight.size - other.inFlight.size);
    const wanted = Math.floor(busy.length * share);
    for (const lane of more.slice(0, Math.max(0, wanted - leaving))) {
      lane.isDraining = true;
    }
  }

  async function returnIdle(): Promise<void> {
    const idle = [...lanes.values()].filter((lane) => lane.inFlight.size === 0);
    // Nobody needs to claim what has nothing due. What is being queued for at this moment is left, and returned.
    await release(idle.filter(({ mayBeDue }) => !mayBeDue));
    const others = idle.filter(({ id }) => lanes.has(id));
    if (others.length > 0) await returnToOthers(others);
  }

  async function release(idle: readonly OwnedLane[]): Promise<void> {
    if (idle.length === 0) return;
    for (const id of await expireUnanswered(idle, releaseLanes(db, clock, idle))) lanes.delete(id);
  }

  async function returnToOthers(over: readonly OwnedLane[]): Promise<void> {
    await expireUnanswered(over, returnLanes(db, clock, over));
    for (const { id } of over) {
      lanes.delete(id);
      returned.set(id, performance.now());
    }
  }
}

/** Up to `count` of those that fail and have something to do, the last ones claimed: the others have waited longer. */
function lastFailing(lanes: readonly OwnedLane[], count: number): OwnedLane[] {
  if (count <= 0) return [];
  return lanes
    .filter(({ failureCount, mayBeDue }) => failureCount > 0 && mayBeDue)
    .toSorted((one, other) => other.claimedMs - one.claimedMs)
    .slice(0, count);
}

/** Without an answer they may be another sender's already: nothing is sent in them before they are renewed. */
async function expireUnanswered<T>(lanes: readonly OwnedLane[], change: Promise<T>): Promise<T> {
  return await change.catch((error: unknown) => {
    for (const lane of lanes) lane.leaseEndsMs = -Infinity;
    throw error;
  });
}

/** Whether many of its account wait for their rate, or fail as it does. */
function isSlow(
  { accountId, failureCount }: OwnedLane,
  { forRate, ofFailing }: RotatedAccounts,
): boolean {
  return forRate.has(accountId) || (failureCount > 0 && ofFailing.has(accountId));
}

function isServedLong({ servedCount, claimedMs }: OwnedLane, nowMs: number): boolean {
  return servedCount > 0 && nowMs - claimedMs > SLOW_TURN_MS;
}

/** A lane that waits for its probe is not idle. */
function lastBusyMs(lane: OwnedLane): number {
  return Math.max(lane.activeMs, lane.probeAtMs ?? 0);
}
