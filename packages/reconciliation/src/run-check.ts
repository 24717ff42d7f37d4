import { AppError } from '@pixmesh/kernel/app-error';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import { durationHistogram } from '@pixmesh/telemetry/metrics';
import { withSpan } from '@pixmesh/telemetry/tracing';

import type { Check, CheckOutcome, FoundBreak } from './check.ts';
import { countCompared, type Lease, lockLease } from './leases.sql.ts';
import {
  type BreakKey,
  dropHealed,
  dropUnconfirmed,
  readCheckState,
  readDatabaseTime,
  storeBreaks,
  type StoredBreaks,
  storeRun,
} from './reconciliation.sql.ts';

/** Differences of one check that are kept. With more than these something is broken as a whole. */
export const BREAKS_MAX = 1_000;
/** How far an incremental run goes back behind its watermark: rows become visible at commit, not at `now()`. */
const OVERLAP_MS = 60_000;

const duration = durationHistogram('reconciliation_check_seconds', 'Time of one check, by scope');

export type RunDeps = {
  db: Database;
  logger: Logger;
  /** Default of checks that name no window. */
  windowMs: number;
  /** A difference is a break only where it is found again this much later. */
  confirmMs: number;
};

type Run = { lease: Lease; signal: AbortSignal };

/** What one check of a run left behind. */
export type CheckRun = {
  check: Check;
  /** Differences that are no breaks yet. */
  pending: number;
  /** Those of them that are so only because they were found for the first time. */
  unconfirmed: readonly BreakKey[];
  /** What a second comparison compares besides them. */
  since: Date;
};

/**
 * Runs one check and stores what it found. A check that could not compare leaves its earlier differences and its
 * watermark alone and adds a break `unavailable`: it never counts as clean.
 */
export async function runCheck(deps: RunDeps, check: Check, run: Run): Promise<CheckRun> {
  const state = await readCheckState(deps.db, check.name, OVERLAP_MS);
  const since = run.lease.kind === 'full' ? null : state.since;
  const startedAt = await readDatabaseTime(deps.db);
  const scope = { since, knownIds: state.knownIds, signal: run.signal };
  const outcome = await compare(deps, check, { ...run, scope, name: nameOf(since) });
  const isFull = since === null;
  const stored =
    outcome && (await storeOutcome(deps, check, { ...run, startedAt, isFull, outcome }));
  const { pending, unconfirmed } = stored ?? { pending: 0, unconfirmed: [] };
  return { check, pending, unconfirmed, since: since ?? startedAt };
}

/**
 * Compares what the run found for the first time once more, when both sides have had time to catch up: what is found
 * again is a break, what is not was on its way. Returns how many differences are no breaks yet.
 */
export async function confirmCheck(deps: RunDeps, first: CheckRun, run: Run): Promise<number> {
  const { check, since, unconfirmed } = first;
  const knownIds = [...new Set(unconfirmed.map(({ id }) => id))];
  const startedAt = await readDatabaseTime(deps.db);
  const scope = { since, knownIds, signal: run.signal };
  const outcome = await compare(deps, check, { ...run, scope, name: 'confirmation' });
  if (outcome === null) return first.pending;
  const windows = windowsOf(deps, check);
  const { kept } = firstOf(outcome.breaks, before(startedAt, windows.windowMs));
  const stored = await deps.db.transaction(async (tx) => {
    if (!(await lockLease(tx, run.lease))) return NOTHING_STORED;
    await dropUnconfirmed(tx, check.name, { unconfirmed, found: kept });
    return await storeBreaks(tx, check.name, { breaks: kept, ...windows });
  });
  logBreaks(deps, check, { kept, stored });
  return first.pending - unconfirmed.length + stored.pending;
}

/** Null: it could not compare, and the break `unavailable` is stored. */
async function compare(
  deps: RunDeps,
  check: Check,
  run: Run & { scope: Parameters<Check['run']>[0]; name: string },
): Promise<CheckOutcome | null> {
  const startedMs = performance.now();
  try {
    return await withSpan(`reconcile ${check.name}`, {}, () => check.run(run.scope));
  } catch (error) {
    // A stop or a lost lease ends the run; that says nothing about the records.
    run.signal.throwIfAborted();
    deps.logger.error({ err: error, check: check.name }, 'reconciliation check failed');
    await storeUnavailable(deps, check, { lease: run.lease, error });
    return null;
  } finally {
    const seconds = (performance.now() - startedMs) / 1000;
    duration.record(seconds, { check: check.name, scope: run.name });
  }
}

function nameOf(since: Date | null): string {
  return since === null ? 'full' : 'incremental';
}

async function storeOutcome(
  deps: RunDeps,
  check: Check,
  run: Run & { startedAt: Date; isFull: boolean; outcome: CheckOutcome },
): Promise<StoredBreaks> {
  const { compared, breaks } = run.outcome;
  const windows = windowsOf(deps, check);
  const youngFrom = before(run.startedAt, windows.windowMs);
  const { kept, left } = firstOf(breaks, youngFrom);
  const watermark = left.length === 0 ? run.startedAt : watermarkOf(left, youngFrom);
  const named = breaks.filter(namesAccount).length;
  const accountBreaks = named > BREAKS_MAX ? named : 0;
  const stored = await deps.db.transaction(async (tx) => {
    if (!(await lockLease(tx, run.lease))) return NOTHING_STORED;
    if (run.lease.kind === 'full') await countCompared(tx, compared);
    await storeRun(tx, { ...run, name: check.name, compared, watermark, accountBreaks });
    await dropHealed(tx, check.name, { found: kept, startedAt: run.startedAt });
    return await storeBreaks(tx, check.name, { breaks: kept, ...windows });
  });
  logBreaks(deps, check, { kept, stored });
  return stored;
}

/**
 * What is kept where there are too many, and what is left out. Those that stop payouts come first, so that no flood of
 * others hides them; those that are still inside their window come last.
 */
function firstOf(
  breaks: readonly FoundBreak[],
  youngFrom: Date,
): { kept: FoundBreak[]; left: FoundBreak[] } {
  if (breaks.length <= BREAKS_MAX) return { kept: [...breaks], left: [] };
  const others = breaks.filter((item) => !namesAccount(item));
  const sorted = [
    ...breaks.filter(namesAccount),
    ...others.filter((item) => !isYoung(item, youngFrom)),
    ...others.filter((item) => isYoung(item, youngFrom)),
  ];
  return { kept: sorted.slice(0, BREAKS_MAX), left: sorted.slice(BREAKS_MAX) };
}

/**
 * From where the next run finds again what was left out: from the beginning of the window, where all of it is inside.
 * Otherwise only a run over everything does.
 */
function watermarkOf(left: readonly FoundBreak[], youngFrom: Date): Date | null {
  return left.every((item) => isYoung(item, youngFrom)) ? youngFrom : null;
}

function isYoung({ changedAt = null }: FoundBreak, youngFrom: Date): boolean {
  return changedAt !== null && changedAt >= youngFrom;
}

function before(time: Date, ms: number): Date {
  return new Date(time.getTime() - ms);
}

function namesAccount({ accountId = null }: FoundBreak): boolean {
  return accountId !== null;
}

const NOTHING_STORED: StoredBreaks = { breaks: [], pending: 0, unconfirmed: [] };

function logBreaks(
  deps: RunDeps,
  check: Check,
  { kept, stored: { breaks } }: { kept: readonly FoundBreak[]; stored: StoredBreaks },
): void {
  if (breaks.length === 0) return;
  const first = breaks.slice(0, 3).map(({ kind, id }) => `${kind} ${id}`);
  deps.logger.error(
    { check: check.name, breaks: breaks.length, found: kept.length, first },
    'reconciliation found breaks',
  );
}

async function storeUnavailable(
  deps: RunDeps,
  check: Check,
  failure: { lease: Lease; error: unknown },
): Promise<void> {
  const code = failure.error instanceof AppError ? failure.error.code : 'INTERNAL_ERROR';
  const item: FoundBreak = { kind: 'unavailable', id: check.name, found: code };
  await deps.db.transaction(async (tx) => {
    if (!(await lockLease(tx, failure.lease))) return;
    await storeBreaks(tx, check.name, { breaks: [item], windowMs: 0, confirmMs: 0 });
  });
}

function windowsOf({ windowMs, confirmMs }: RunDeps, check: Check) {
  return { windowMs: check.windowMs ?? windowMs, confirmMs };
}
