import type { ClaimedLane } from './claim-lanes.sql.ts';

/** Failures in a row that open a lane's breaker: more than all attempts of one delivery together. */
export const BREAKER_THRESHOLD = 10;
/** Between a failed probe and the next one. */
export const PROBE_INTERVAL_MS = 1_000;
/**
 * Requests that are out and outcomes that wait to be stored, as a multiple of a lane's slots: beside full slots as many
 * outcomes may wait, so a fast receiver does not wait for a commit. What a crash may repeat of the lane grows by as
 * many.
 */
const IN_FLIGHT_PER_SLOT = 2;
/** Recovered deliveries have this part of a lane's slots at most, so that a live one finds a slot free. */
const RECOVERED_SHARE_OF_LANE = 1 / 3;
/** One in so many sends of a lane is for retries and recovered deliveries, while any are due. */
const OTHERS_EVERY = 10;

/** A lane that had nothing to do for so long is polled more rarely: wake-ups tell of what comes. */
const IDLE_AFTER_MS = 1_000;
/** Short beside half of what a lease has beyond a request, so that its lease is renewed in time. */
const IDLE_POLL_MS = 600;

/** A lane that this process serves. Instants are of the process's own clock. */
export type OwnedLane = {
  readonly id: string;
  /** Nobody's at first where a process that knows no accounts inserted the lane. */
  accountId: string;
  readonly fence: bigint;
  readonly claimedMs: number;
  /** Measured from before the lease was asked for: never later than the database's own end of it. */
  leaseEndsMs: number;
  /** Queue rows whose requests are out or whose outcomes are not stored yet. */
  readonly inFlight: Set<string>;
  /** Those of them whose receivers have answered: they hold no slot of the lane. */
  readonly unrecorded: Set<string>;
  /** Those of `inFlight` that belong to recoveries. */
  readonly recovering: Set<string>;
  /** Whether something may be due that was not fetched. */
  mayBeDue: boolean;
  /** Failed attempts in a row. */
  failureCount: number;
  /** While the breaker is open: no attempt before. */
  probeAtMs: number | null;
  /** Whether its receiver has answered well since it was claimed. */
  isProven: boolean;
  /** First attempts since the last of the others. */
  firstsInARow: number;
  /** Sends since others of its account began to wait, for slots or for their rate. */
  servedCount: number;
  /** Its turn is over; it is returned once nothing of it is in flight. */
  isDraining: boolean;
  /** Lanes of this process are numbered as they are served; 0 for one that was not. */
  servedNumber: number;
  /** When it last had something to do. */
  activeMs: number;
  /** When what is due in it was last fetched. */
  fetchedMs: number;
  /** Whether what is fetched next may have been sent already, by an owner that died. */
  isTakenOver: boolean;
  /** What may have been, of what was fetched so far. */
  repeatedCount: number;
};

export function toOwnedLane(claim: ClaimedLane, leaseEndsMs: number): OwnedLane {
  const nowMs = performance.now();
  return {
    id: claim.id,
    accountId: claim.accountId,
    fence: claim.fence,
    claimedMs: nowMs,
    leaseEndsMs,
    inFlight: new Set(),
    unrecorded: new Set(),
    recovering: new Set(),
    mayBeDue: true,
    failureCount: claim.failureCount,
    probeAtMs: claim.probeInMs === null ? null : nowMs + claim.probeInMs,
    isProven: false,
    firstsInARow: 0,
    servedCount: 0,
    isDraining: false,
    servedNumber: 0,
    activeMs: nowMs,
    fetchedMs: -Infinity,
    isTakenOver: claim.isTakenOver,
    repeatedCount: 0,
  };
}

/** Requests that are out and outcomes that are not stored, together: what a crash may repeat of one lane. */
export function inFlightMaxOf(perLaneMax: number): number {
  return perLaneMax * IN_FLIGHT_PER_SLOT;
}

/**
 * How many more requests its breaker and its own bounds allow. A lane that fails never has more of them out than
 * failures are missing, so that no more than these are made before it opens: an attempt counts from its answer on,
 * stored or not. A probe also waits for the outcome of the one before.
 */
export function roomOf(lane: OwnedLane, perLaneMax: number, nowMs: number): number {
  const { inFlight, unrecorded, failureCount, probeAtMs } = lane;
  if (probeAtMs !== null) return inFlight.size === 0 && nowMs >= probeAtMs ? 1 : 0;
  const missing = Math.max(1, BREAKER_THRESHOLD - failureCount);
  const slots = failureCount === 0 ? perLaneMax : Math.min(perLaneMax, missing);
  const free = slots - (inFlight.size - unrecorded.size);
  return Math.max(0, Math.min(free, inFlightMaxOf(perLaneMax) - inFlight.size));
}

/** Whether it has free slots and may not use them before outcomes of it are stored. */
export function waitsForStoring({ inFlight, unrecorded }: OwnedLane, perLaneMax: number): boolean {
  const inFlightMax = inFlightMaxOf(perLaneMax);
  return inFlight.size >= inFlightMax && unrecorded.size > inFlightMax - perLaneMax;
}

/**
 * How many more recovered deliveries may be in flight. They count until they are stored: live ones find room in both
 * bounds.
 */
export function roomForRecovered(lane: OwnedLane, perLaneMax: number): number {
  const most = Math.max(1, Math.floor(perLaneMax * RECOVERED_SHARE_OF_LANE));
  return Math.max(0, most - lane.recovering.size);
}

/** Whether one of the next `take` sends belongs to the others. */
export function wantsOther(lane: OwnedLane, take: number): boolean {
  return lane.firstsInARow + take >= OTHERS_EVERY;
}

/**
 * Lanes to look into at a poll: those that had something to do lately, and of the idle ones at most so many, whose last
 * fetch is longest ago. Each takes a slot until it is known that nothing is due in it.
 */
export function toPoll(
  lanes: Iterable<OwnedLane>,
  { idleMax, nowMs }: { idleMax: number; nowMs: number },
): OwnedLane[] {
  const [active, idle]: [OwnedLane[], OwnedLane[]] = [[], []];
  for (const lane of lanes) {
    if (nowMs - lane.activeMs < IDLE_AFTER_MS) active.push(lane);
    else if (nowMs - lane.fetchedMs >= IDLE_POLL_MS) idle.push(lane);
  }
  if (idle.length > idleMax) idle.sort((one, other) => one.fetchedMs - other.fetchedMs);
  return [...active, ...idle.slice(0, idleMax)];
}

/** A delivery whose request begins. */
type Send = { queueId: string; rank: number; recoveryId: string | null };

/** Takes a slot of the lane. */
export function beginSend(lane: OwnedLane, send: Send): void {
  lane.inFlight.add(send.queueId);
  if (send.recoveryId !== null) lane.recovering.add(send.queueId);
  lane.servedCount += 1;
  lane.firstsInARow = send.rank === 0 ? lane.firstsInARow + 1 : 0;
}

/**
 * Releases the slot: the receiver has answered, and its outcome is to be stored. The attempt must have been counted.
 */
export function endRequest(lane: OwnedLane, queueId: string): void {
  lane.unrecorded.add(queueId);
}

/** The outcome is stored, or there is none. Other recovered deliveries may wait for the place of a recovered one. */
export function endSend(lane: OwnedLane, queueId: string): void {
  lane.inFlight.delete(queueId);
  lane.unrecorded.delete(queueId);
  if (lane.recovering.delete(queueId)) lane.mayBeDue = true;
}

/** What was fetched: how many deliveries, and whether nothing more was due. */
type Fetch = { count: number; isAll: boolean };

/**
 * How many of those that were fetched may have been sent already, by an owner that died. What it had in flight was due
 * first, so no more than its bound, and none once nothing more is due.
 */
export function countRepeats(lane: OwnedLane, fetched: Fetch, perLaneMax: number): number {
  if (!lane.isTakenOver) return 0;
  const count = Math.min(fetched.count, inFlightMaxOf(perLaneMax) - lane.repeatedCount);
  lane.repeatedCount += count;
  lane.isTakenOver = !fetched.isAll && lane.repeatedCount < inFlightMaxOf(perLaneMax);
  return count;
}

/**
 * Moves the breaker, and answers whether the lane's row has to follow. Failures count in a row, whatever deliveries
 * they are of; a success closes it.
 */
export function countAttempt(lane: OwnedLane, isSuccess: boolean, nowMs: number): boolean {
  lane.activeMs = nowMs;
  if (isSuccess) {
    const wasFailing = lane.failureCount > 0;
    lane.failureCount = 0;
    lane.probeAtMs = null;
    lane.isProven = true;
    return wasFailing;
  }
  lane.failureCount += 1;
  lane.isProven = false;
  if (lane.failureCount >= BREAKER_THRESHOLD) lane.probeAtMs = nowMs + PROBE_INTERVAL_MS;
  return true;
}
