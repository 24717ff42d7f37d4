import { AppError } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import { durationHistogram } from '@pixmesh/telemetry/metrics';
import { withSpan } from '@pixmesh/telemetry/tracing';

import type { Check, CheckOutcome, FoundBreak } from './check.ts';
import {
  dropHealed,
  lockLease,
  readCheckState,
  readDatabaseTime,
  storeBreaks,
  storeRun,
} from './reconciliation.sql.ts';

/** Differences of one check that are kept. With more than these something is broken as a whole. */
const BREAKS_MAX = 1_000;
/** How far an incremental run goes back behind its watermark: rows become visible at commit, not at `now()`. */
const OVERLAP_MS = 60_000;

const duration = durationHistogram('reconciliation_check_seconds', 'Time of one check, by scope');

export type RunDeps = {
  db: Database;
  logger: Logger;
  fullIntervalMs: number;
  /** Default of checks that name no window. */
  windowMs: number;
};

type Run = { token: string; full: boolean; signal: AbortSignal };

/**
 * Runs one check and stores what it found. A check that could not compare leaves its earlier differences and its
 * watermark alone and adds a break `unavailable`: it never counts as clean. Answers the differences that are
 * still inside their window.
 */
export async function runCheck(deps: RunDeps, check: Check, run: Run): Promise<number> {
  const state = await readCheckState(deps.db, check.name, {
    fullIntervalMs: deps.fullIntervalMs,
    overlapMs: OVERLAP_MS,
  });
  const since = run.full ? null : state.since;
  const startedAt = await readDatabaseTime(deps.db);
  const startedMs = performance.now();
  try {
    const outcome = await withSpan(`reconcile ${check.name}`, {}, () =>
      check.run({ since, knownIds: state.knownIds, signal: run.signal }),
    );
    return await storeOutcome(deps, check, { ...run, startedAt, isFull: since === null, outcome });
  } catch (error) {
    // A stop or a lost lease ends the run; that says nothing about the records.
    run.signal.throwIfAborted();
    deps.logger.error({ err: error, check: check.name }, 'reconciliation check failed');
    await storeUnavailable(deps, check, { token: run.token, error });
    return 0;
  } finally {
    const scope = since === null ? 'full' : 'incremental';
    duration.record((performance.now() - startedMs) / 1000, { check: check.name, scope });
  }
}

async function storeOutcome(
  deps: RunDeps,
  check: Check,
  run: Run & { startedAt: Date; isFull: boolean; outcome: CheckOutcome },
): Promise<number> {
  const { compared, breaks } = run.outcome;
  const kept = breaks.slice(0, BREAKS_MAX);
  const isComplete = kept.length === breaks.length;
  const counts = await deps.db.transaction(async (tx) => {
    if (!(await lockLease(tx, run.token))) return { breaks: 0, pending: 0 };
    await storeRun(tx, { ...run, name: check.name, compared, isComplete });
    await dropHealed(tx, check.name, kept);
    return await storeBreaks(tx, check.name, { breaks: kept, windowMs: windowOf(deps, check) });
  });
  if (counts.breaks > 0) {
    const first = kept.slice(0, 3).map(({ kind, id }) => `${kind} ${id}`);
    deps.logger.error(
      { check: check.name, breaks: counts.breaks, found: breaks.length, first },
      'reconciliation found breaks',
    );
  }
  return counts.pending;
}

async function storeUnavailable(
  deps: RunDeps,
  check: Check,
  failure: { token: string; error: unknown },
): Promise<void> {
  const code = failure.error instanceof AppError ? failure.error.code : 'INTERNAL_ERROR';
  const item: FoundBreak = { kind: 'unavailable', id: check.name, found: code };
  await deps.db.transaction(async (tx) => {
    if (!(await lockLease(tx, failure.token))) return;
    await storeBreaks(tx, check.name, { breaks: [item], windowMs: 0 });
  });
}

function windowOf(deps: RunDeps, check: Check): number {
  return check.windowMs ?? deps.windowMs;
}
