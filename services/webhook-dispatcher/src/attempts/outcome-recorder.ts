import { setImmediate } from 'node:timers/promises';

import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { ScheduleClock } from '#schedule-clock.ts';

import { createOutcomeStore, type Outcome, type WaitingOutcome } from './outcome-store.ts';

/** Outcomes per commit: commits, not requests, are what deliveries cost. */
const OUTCOMES_PER_COMMIT_MAX = 128;
/**
 * Between the beginnings of two commits: what comes meanwhile shares the next one. A lone outcome never waits, and no
 * receiver does: requests follow each other without it until a lane waits for storing, and then it ends.
 */
const COMMIT_INTERVAL_MS = 50;
/** So many share a commit before its time when nothing more is on its way: a full lane, or nearly so. */
const GATHERED_MIN = 8;

export type OutcomeRecorder = {
  /** Resolves once the outcome is stored, refused because another claim has the lane, or given up. */
  record(outcome: Outcome): Promise<void>;
  /** While outcomes wait for the database nothing new may be sent: what is due may be sent already. */
  isStoringLate(): boolean;
};

type RecorderDeps = {
  db: Database;
  clock: ScheduleClock;
  logger: Logger;
  /** Sends that are not recorded yet: once all of them are waiting, there is nothing more to gather. */
  inFlight(): number;
  /** Whether this lane would send if its outcomes were stored. */
  waitsForStoring(laneId: string): boolean;
};

/**
 * Stores outcomes in batches that form by themselves. A database that is away is waited for, for as long as it takes;
 * the queue is bounded by the sends in flight, whose slots stay taken until then.
 */
export function createOutcomeRecorder(deps: RecorderDeps): OutcomeRecorder {
  const store = createOutcomeStore(deps);
  const queue: WaitingOutcome[] = [];
  let flushing = false;
  let flushedMs = -Infinity;
  let endGathering: (() => void) | null = null;
  return { record, isStoringLate: store.isStoringLate };

  function record(outcome: Outcome): Promise<void> {
    return new Promise((done) => {
      queue.push({ outcome, done });
      if (!flushing) void flush();
      if (isGathered() || waitsForStoring({ outcome })) endGathering?.();
    });
  }

  function isGathered(): boolean {
    const all = Math.max(GATHERED_MIN, deps.inFlight());
    return queue.length >= Math.min(OUTCOMES_PER_COMMIT_MAX, all);
  }

  function waitsForStoring({ outcome }: Pick<WaitingOutcome, 'outcome'>): boolean {
    return deps.waitsForStoring(outcome.attempt.laneId);
  }

  /** Until the next commit is to begin. */
  async function gather(): Promise<void> {
    const restMs = flushedMs + COMMIT_INTERVAL_MS - performance.now();
    if (restMs <= 1) return;
    // The sends of the commit before give back their places first.
    await setImmediate();
    if (isGathered() || queue.some(waitsForStoring)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, restMs);
      endGathering = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    endGathering = null;
  }

  /** Ends in the same turn in which it finds the queue empty, so that nothing is left behind in it. */
  async function flush(): Promise<void> {
    flushing = true;
    while (queue.length > 0) {
      await gather();
      flushedMs = performance.now();
      await store.store(queue.splice(0, OUTCOMES_PER_COMMIT_MAX));
    }
    flushing = false;
  }
}
