import { setTimeout as delay } from 'node:timers/promises';

import { blamesContent } from '@pixmesh/postgres/database-error';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { outcomesLost } from '#events.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import { type AttemptOutcome, type LaneChange, recordOutcomes } from './record-outcomes.sql.ts';

const RETRY_DELAY_MS = 250;
const RETRY_DELAY_MS_MAX = 2_000;

/** An outcome and, where it moved the breaker of its lane, what that is now. */
export type Outcome = { attempt: AttemptOutcome; lane: LaneChange | null };

export type OutcomeStore = {
  /** Resolves once each of them is stored or refused. */
  store(outcomes: readonly Outcome[]): Promise<void>;
  isBehind(): boolean;
};

type StoreDeps = { db: Database; clock: ScheduleClock; logger: Logger };

/** Stores batches of outcomes, for as long as it takes. */
export function createOutcomeStore(deps: StoreDeps): OutcomeStore {
  let failures = 0;
  return { store: storeAll, isBehind: () => failures > 0 };

  async function storeAll(outcomes: readonly Outcome[]): Promise<void> {
    for (;;) {
      try {
        await storeOnce(deps, outcomes);
        failures = 0;
        return;
      } catch (error) {
        if (blamesContent(error)) return await storeApart(outcomes, error);
        failures += 1;
        if (failures === 1) deps.logger.warn({ err: error }, 'outcome store: database unavailable');
        await delay(Math.min(RETRY_DELAY_MS * 2 ** failures, RETRY_DELAY_MS_MAX));
      }
    }
  }

  /** One outcome that cannot be stored must not hold up, or lose, the others of its batch. */
  async function storeApart(outcomes: readonly Outcome[], error: unknown): Promise<void> {
    const [only, ...others] = outcomes;
    if (only === undefined) return;
    if (others.length > 0) {
      for (const outcome of outcomes) await storeAll([outcome]);
      return;
    }
    const { attempt } = only;
    deps.logger.error(
      { err: error, delivery_id: attempt.deliveryId },
      'outcome refused by the database',
    );
    const { responseExcerpt, error: text, address } = attempt;
    if (responseExcerpt === null && text === null && address === null) {
      return outcomesLost('unstorable', 1);
    }
    // Without what comes from outside.
    const ours = { ...attempt, responseExcerpt: null, error: null, address: null };
    await storeAll([{ ...only, attempt: ours }]);
  }
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
