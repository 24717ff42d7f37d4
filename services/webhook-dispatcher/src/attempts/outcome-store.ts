import { setTimeout as delay } from 'node:timers/promises';

import { blamesContent, isDatabaseAway, isLockTimeout } from '@pixmesh/postgres/database-error';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { outcomesLost } from '#reports.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import { type AttemptOutcome, type LaneChange, recordOutcomes } from './record-outcomes.sql.ts';

const RETRY_DELAY_MS = 250;
const RETRY_DELAY_MS_MAX = 2_000;
/** An outcome that cannot be stored is tried again so often, at these intervals. */
const APART_TRIES = 5;
const APART_INTERVAL_MS = 60_000;
/** Those that wait for a row which another transaction holds are tried again so often. */
const LOCKED_INTERVAL_MS = 1_000;
/** After so many lanes in a row the table itself is taken for locked, and the rest is not tried one by one. */
const LOCKED_IN_A_ROW_MAX = 3;

/** An outcome and, where it moved the breaker of its lane, what that is now. */
export type Outcome = { attempt: AttemptOutcome; lane: LaneChange | null };

/** `done` is called once it is stored, refused, or given up: its send keeps its slots until then. */
export type WaitingOutcome = { outcome: Outcome; done(): void };

export type OutcomeStore = {
  /** Resolves once each of them is done, but for those that are tried again apart. */
  store(waiting: readonly WaitingOutcome[]): Promise<void>;
  isStoringLate(): boolean;
};

type StoreDeps = {
  db: Database;
  clock: ScheduleClock;
  logger: Logger;
  apartIntervalMs?: number;
};

/** Stores batches of outcomes, for as long as it takes. */
export function createOutcomeStore(deps: StoreDeps): OutcomeStore {
  const { logger } = deps;
  let failures = 0;
  return { store, isStoringLate: () => failures > 0 };

  async function store(waiting: readonly WaitingOutcome[]): Promise<void> {
    let left = waiting;
    for (;;) {
      const error = await tryOnce(deps, left);
      if (error === null) left = [];
      else if (isLockTimeout(error)) left = await storeByLane(left);
      else if (!isDatabaseAway(error)) {
        failures = 0;
        return await storeApart(left, error);
      }
      if (left.length === 0) {
        failures = 0;
        return;
      }
      failures += 1;
      if (failures === 1) logger.warn({ err: error }, 'outcome store: database unavailable');
      await delay(Math.min(RETRY_DELAY_MS * 2 ** failures, RETRY_DELAY_MS_MAX));
    }
  }

  /**
   * A row that another transaction holds must not hold up other lanes. Answers what is left where the table itself seems
   * to be locked, or the database is away by now.
   */
  async function storeByLane(waiting: readonly WaitingOutcome[]): Promise<WaitingOutcome[]> {
    logger.warn({ outcomes: waiting.length }, 'outcome store: a row is locked');
    const lanes = [...Map.groupBy(waiting, ({ outcome }) => outcome.attempt.laneId).values()];
    const locked: WaitingOutcome[][] = [];
    let lockedInARow = 0;
    for (const [index, lane] of lanes.entries()) {
      const error = await tryOnce(deps, lane);
      if (isLockTimeout(error)) {
        locked.push(lane);
        lockedInARow += 1;
        if (lockedInARow === LOCKED_IN_A_ROW_MAX)
          return [...locked, ...lanes.slice(index + 1)].flat();
        continue;
      }
      lockedInARow = 0;
      if (isDatabaseAway(error)) return [...locked, ...lanes.slice(index)].flat();
      if (error !== null) await storeApart(lane, error);
    }
    for (const lane of locked) void storeOnceReleased(lane);
    return [];
  }

  /** Until then its sends keep their slots, and the lane is neither released nor returned. */
  async function storeOnceReleased(lane: readonly WaitingOutcome[]): Promise<void> {
    const waiting = lane.map(withoutBreaker);
    for (;;) {
      await delay(LOCKED_INTERVAL_MS, undefined, { ref: false });
      const error = await tryOnce(deps, waiting);
      if (error === null) return;
      if (!isDatabaseAway(error)) return await storeApart(waiting, error);
    }
  }

  /** One outcome that cannot be stored must not hold up, or lose, the others of its batch. */
  async function storeApart(waiting: readonly WaitingOutcome[], error: unknown): Promise<void> {
    const [only, ...others] = waiting;
    if (only === undefined) return;
    if (others.length > 0) {
      for (const one of waiting) await store([one]);
      return;
    }
    const { attempt } = only.outcome;
    logger.error({ err: error, delivery_id: attempt.deliveryId }, 'outcome cannot be stored');
    const ours = blamesContent(error) ? withoutForeign(attempt) : null;
    if (ours !== null)
      return await store([{ ...only, outcome: { ...only.outcome, attempt: ours } }]);
    outcomesLost('unstorable', 1);
    void tryApart(deps, only);
  }
}

/**
 * Its delivery is still queued, and is sent again once its send has ended: late and seldom, but not never, because until
 * then its lane is neither released nor returned.
 */
async function tryApart(deps: StoreDeps, only: WaitingOutcome): Promise<void> {
  const one = withoutBreaker(only);
  for (let tries = 0; tries < APART_TRIES;) {
    await delay(deps.apartIntervalMs ?? APART_INTERVAL_MS, undefined, { ref: false });
    const error = await tryOnce(deps, [one]);
    if (error === null) return;
    if (!isDatabaseAway(error)) tries += 1;
  }
  one.done();
}

/** Returns why they are not stored. */
async function tryOnce(deps: StoreDeps, waiting: readonly WaitingOutcome[]): Promise<unknown> {
  try {
    await storeOnce(
      deps,
      waiting.map(({ outcome }) => outcome),
    );
  } catch (error) {
    return error;
  }
  for (const { done } of waiting) done();
  return null;
}

/** For one that is stored late: the breaker may have moved meanwhile. */
function withoutBreaker({ outcome, done }: WaitingOutcome): WaitingOutcome {
  return { outcome: { ...outcome, lane: null }, done };
}

/** Null where nothing of it comes from outside. */
function withoutForeign(attempt: AttemptOutcome): AttemptOutcome | null {
  const { responseExcerpt, error, address } = attempt;
  if (responseExcerpt === null && error === null && address === null) return null;
  return { ...attempt, responseExcerpt: null, error: null, address: null };
}

async function storeOnce(deps: StoreDeps, batch: readonly Outcome[]): Promise<void> {
  const outcomes = batch.map(({ attempt }) => attempt);
  // Of several changes of a lane the last one counts.
  const lanes = new Map(batch.flatMap(({ lane }) => (lane === null ? [] : [[lane.laneId, lane]])));
  const stored = await recordOutcomes(deps.db, deps.clock, {
    outcomes,
    lanes: [...lanes.values()],
  });
  const fenced = outcomes.filter((outcome) => !stored.has(outcome.attemptId));
  if (fenced.length === 0) return;
  outcomesLost('fenced', fenced.length);
  deps.logger.warn(
    { delivery_ids: fenced.map((outcome) => outcome.deliveryId) },
    'outcomes refused: lane taken over',
  );
}
