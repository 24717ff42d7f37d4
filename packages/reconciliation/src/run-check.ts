import { AppError } from '@pixmesh/kernel/app-error';
import type { Database, Transaction } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import { durationHistogram } from '@pixmesh/telemetry/metrics';
import { withSpan } from '@pixmesh/telemetry/tracing';

import {
  type BreakKey,
  dropHealed,
  dropUnconfirmed,
  incompleteIdOf,
  storeBreaks,
  type StoredBreaks,
} from './breaks.sql.ts';
import type { Check, CheckOutcome, FoundBreak, Scope } from './check.ts';
import { BREAKS_MAX, chooseKept, type Kept } from './choose-kept.ts';
import { countCompared, type Lease, lockLease } from './leases.sql.ts';
import { readCheckState, readDatabaseTime, storeRun } from './runs.sql.ts';

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
  /** What a second comparison compares besides them. Null, after a full comparison: only what changes from then on. */
  since: Date | null;
};

/**
 * Runs one check and stores what it found. A check that could not compare leaves its earlier differences and its
 * watermark alone and adds a break `unavailable`: it never counts as clean.
 *
 * The first run of a check compares everything, also where it is an incremental one: that of a new installation.
 */
export async function runCheck(deps: RunDeps, check: Check, run: Run): Promise<CheckRun> {
  const startedAt = await readDatabaseTime(deps.db);
  const state = await readCheckState(deps.db, check.name, OVERLAP_MS);
  const since = run.lease.kind === 'full' ? null : state.since;
  const scope = { since, knownIds: state.knownIds, signal: run.signal };
  const outcome = await compare(deps, check, { ...run, scope, name: nameOf(since) });
  const stored =
    outcome && (await storeOutcome(deps, check, { ...run, scope, startedAt, outcome }));
  const { pending, unconfirmed } = stored ?? { pending: 0, unconfirmed: [] };
  return { check, pending, unconfirmed, since };
}

/**
 * Compares what the run found for the first time once more, when both sides have had time to catch up: what is found
 * again is a break, what is not was on its way. Returns how many differences are no breaks yet.
 */
export async function confirmCheck(deps: RunDeps, first: CheckRun, run: Run): Promise<number> {
  const { check, since, unconfirmed } = first;
  const knownIds = [...new Set(unconfirmed.map(({ id }) => id))];
  const startedAt = await readDatabaseTime(deps.db);
  const scope = { since: since ?? startedAt, knownIds, signal: run.signal };
  const outcome = await compare(deps, check, { ...run, scope, name: 'confirmation' });
  if (outcome === null) return first.pending;
  const windows = windowsOf(deps, check);
  const chosen = chooseKept(outcome.breaks, before(startedAt, windows.windowMs));
  const stored = await deps.db.transaction(async (tx) => {
    if (!(await lockLease(tx, run.lease))) return NOTHING_STORED;
    // What is found again and not kept has not healed.
    await dropUnconfirmed(tx, check.name, { unconfirmed, found: outcome.breaks });
    return await storeKept(tx, check, { ...chosen, ...windows });
  });
  logBreaks(deps, check, { kept: chosen.kept, stored });
  return first.pending - unconfirmed.length + stored.pending;
}

/** Null: it could not compare, and the break `unavailable` is stored. */
async function compare(
  deps: RunDeps,
  check: Check,
  run: Run & { scope: Scope; name: string },
): Promise<CheckOutcome | null> {
  const startedMs = performance.now();
  try {
    return await withSpan(`reconcile ${check.name}`, {}, () => check.run(run.scope));
  } catch (error) {
    // A stop or a lost lease ends the run; that says nothing about the records.
    run.signal.throwIfAborted();
    deps.logger.error({ err: error, check: check.name }, 'reconciliation check failed');
    await storeUnavailable(deps, check, { ...run, error });
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
  run: Run & { startedAt: Date; scope: Scope; outcome: CheckOutcome },
): Promise<StoredBreaks> {
  const { startedAt, scope, lease } = run;
  const { compared, breaks, comparedUntil = startedAt } = run.outcome;
  const windows = windowsOf(deps, check);
  const youngFrom = before(startedAt, windows.windowMs);
  const { kept, left } = chooseKept(breaks, youngFrom);
  // What is young is found again from the beginning of the window on, what is old by a full run alone.
  const from = { nothing: startedAt, young: youngFrom, old: null }[left];
  const watermark = from && (comparedUntil < from ? comparedUntil : from);
  const named = breaks.filter(({ accountId = null }) => accountId !== null).length;
  const accountBreaks = named > BREAKS_MAX ? named : 0;
  const isFull = scope.since === null;
  const known = new Set([...scope.knownIds, check.name]);
  if (isFull && left !== 'old') known.add(incompleteIdOf(check.name));
  const found = breaks.filter(({ id }) => known.has(id));
  const stored = await deps.db.transaction(async (tx) => {
    if (!(await lockLease(tx, lease))) return NOTHING_STORED;
    if (lease.kind === 'full') await countCompared(tx, compared);
    await storeRun(tx, { name: check.name, compared, startedAt, isFull, watermark, accountBreaks });
    await dropHealed(tx, check.name, { known: [...known], found, startedAt });
    return await storeKept(tx, check, { kept, left, ...windows });
  });
  logBreaks(deps, check, { kept, stored });
  return stored;
}

/** Where more was found than is stored, only a full run finds the rest again. */
async function storeKept(
  tx: Transaction,
  check: Check,
  { kept, left, ...windows }: Kept & Windows,
): Promise<StoredBreaks> {
  const stored = await storeBreaks(tx, check.name, { breaks: kept, ...windows });
  if (left === 'old' || stored.refused > 0) {
    const id = incompleteIdOf(check.name);
    await storeUnread(tx, check, { id, found: `more than ${BREAKS_MAX} differences` });
  }
  return stored;
}

async function storeUnread(
  tx: Transaction,
  check: Check,
  item: { id: string; found: string },
): Promise<void> {
  const breaks: FoundBreak[] = [{ kind: 'unavailable', ...item }];
  await storeBreaks(tx, check.name, { breaks, windowMs: 0, confirmMs: 0 });
}

function before(time: Date, ms: number): Date {
  return new Date(time.getTime() - ms);
}

const NOTHING_STORED: StoredBreaks = { breaks: [], pending: 0, unconfirmed: [], refused: 0 };

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

/**
 * A full run that could not compare leaves a difference of its own, which no incremental run ends. Its second comparison
 * leaves none: all was compared once.
 */
async function storeUnavailable(
  deps: RunDeps,
  check: Check,
  failure: { lease: Lease; scope: Scope; error: unknown },
): Promise<void> {
  const found = failure.error instanceof AppError ? failure.error.code : 'INTERNAL_ERROR';
  const isFullRun = failure.lease.kind === 'full' && failure.scope.since === null;
  const id = isFullRun ? incompleteIdOf(check.name) : check.name;
  await deps.db.transaction(async (tx) => {
    if (await lockLease(tx, failure.lease)) await storeUnread(tx, check, { id, found });
  });
}

type Windows = { windowMs: number; confirmMs: number };

function windowsOf({ windowMs, confirmMs }: RunDeps, check: Check): Windows {
  return { windowMs: check.windowMs ?? windowMs, confirmMs };
}
