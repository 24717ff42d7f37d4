import { setTimeout as delay } from 'node:timers/promises';

import { blamesContent, isDatabaseAway } from '@pixmesh/postgres/database-error';
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
  const { logger, apartIntervalMs = APART_INTERVAL_MS } = deps;
  let failures = 0;
  return { store, isStoringLate: () => failures > 0 };

  async function store(waiting: readonly WaitingOutcome[]): Promise<void> {
    for (;;) {
      const error = await tryOnce(waiting);
      if (error === null || !isDatabaseAway(error)) failures = 0;
      if (error === null) return;
      if (!isDatabaseAway(error)) return await storeApart(waiting, error);
      failures += 1;
      if (failures === 1) logger.warn({ err: error }, 'outcome store: database unavailable');
      await delay(Math.min(RETRY_DELAY_MS * 2 ** failures, RETRY_DELAY_MS_MAX));
    }
  }

  /** Returns why they are not stored. */
  async function tryOnce(waiting: readonly WaitingOutcome[]): Promise<unknown> {
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
    void tryApart(only);
  }

  /**
   * Its delivery is still queued, and is sent again once its send has ended: late and seldom, but not never, because
   * until then its lane is neither released nor returned. The breaker may have moved meanwhile.
   */
  async function tryApart({ outcome, done }: WaitingOutcome): Promise<void> {
    const one = { outcome: { ...outcome, lane: null }, done };
    for (let tries = 0; tries < APART_TRIES;) {
      await delay(apartIntervalMs, undefined, { ref: false });
      const error = await tryOnce([one]);
      if (error === null) return;
      if (!isDatabaseAway(error)) tries += 1;
    }
    done();
  }
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
