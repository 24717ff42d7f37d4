import { setTimeout as delay } from 'node:timers/promises';

import { AppError } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { outcomesLost } from '#events.ts';

import { type AttemptOutcome, insertAttempts } from './record-outcomes.sql.ts';
import type { ScheduleClock } from './schedule-clock.ts';

/** Outcomes per commit: commits, not requests, are what deliveries cost. */
const OUTCOMES_PER_COMMIT_MAX = 64;
const RETRY_DELAY_MS = 250;
const RETRY_DELAY_MS_MAX = 2_000;

export type OutcomeRecorder = {
  /** Resolves once the outcome is stored, or refused because another claim has the delivery now. */
  record(outcome: AttemptOutcome): Promise<void>;
  /** While the database refuses outcomes nothing new may be claimed: what is due may only look so. */
  isBehind(): boolean;
};

type RecorderDeps = { db: Database; clock: ScheduleClock; logger: Logger };
type Waiting = { outcome: AttemptOutcome; done(): void };

/**
 * Stores outcomes in batches that form by themselves: while one is being committed the next gathers, so a
 * lone outcome never waits and a flood needs few commits. A database that is away is waited for, for as long
 * as it takes; the queue is bounded by the sends in flight, whose slots stay taken until then.
 */
export function createOutcomeRecorder(deps: RecorderDeps): OutcomeRecorder {
  const queue: Waiting[] = [];
  let flushing = false;
  let failures = 0;
  return { record, isBehind: () => failures > 0 };

  async function record(outcome: AttemptOutcome): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.push({ outcome, done: resolve });
    if (!flushing) void flush();
    await promise;
  }

  /** Ends in the same turn in which it finds the queue empty, so that nothing is left behind in it. */
  async function flush(): Promise<void> {
    flushing = true;
    while (queue.length > 0) {
      const batch = queue.splice(0, OUTCOMES_PER_COMMIT_MAX);
      await storeAll(batch.map(({ outcome }) => outcome));
      for (const { done } of batch) done();
    }
    flushing = false;
  }

  async function storeAll(outcomes: readonly AttemptOutcome[]): Promise<void> {
    for (;;) {
      try {
        await store(deps, outcomes);
        failures = 0;
        return;
      } catch (error) {
        if (!isUnavailable(error)) return await storeApart(outcomes, error);
        failures += 1;
        if (failures === 1) deps.logger.warn({ err: error }, 'outcomes wait for the database');
        await delay(Math.min(RETRY_DELAY_MS * 2 ** failures, RETRY_DELAY_MS_MAX));
      }
    }
  }

  /** One outcome that cannot be stored must not hold up, or lose, the others of its batch. */
  async function storeApart(outcomes: readonly AttemptOutcome[], error: unknown): Promise<void> {
    const [only, ...others] = outcomes;
    if (only === undefined) return;
    if (others.length > 0) {
      for (const outcome of outcomes) await storeAll([outcome]);
      return;
    }
    deps.logger.error(
      { err: error, delivery_id: only.deliveryId },
      'an outcome could not be stored whole',
    );
    if (only.responseExcerpt === null) return outcomesLost('unstorable', 1);
    await storeAll([{ ...only, responseExcerpt: null }]);
  }
}

async function store(deps: RecorderDeps, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const stored = await insertAttempts(deps.db, deps.clock, outcomes);
  const fenced = outcomes.filter((outcome) => !stored.has(outcome.deliveryId));
  if (fenced.length === 0) return;
  outcomesLost('fenced', fenced.length);
  deps.logger.warn(
    { delivery_ids: fenced.map((outcome) => outcome.deliveryId) },
    'outcomes came after their lease had been taken over',
  );
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'DEPENDENCY_UNAVAILABLE';
}
