import { setTimeout as delay } from 'node:timers/promises';

import type { Check } from './check.ts';
import { finishRun, readDatabaseTime, releaseLease, renewLease } from './reconciliation.sql.ts';
import { type CheckRun, confirmCheck, runCheck, type RunDeps } from './run-check.ts';

/** A replica that dies in a run is followed after this long; the run itself may take any time. */
export const LEASE_MS = 30_000;
const LEASE_RENEWAL_MS = LEASE_MS / 3;
/** Times are stored in milliseconds, and the database's clock is not the timer's. */
const CLOCK_STEP_MS = 50;
/** Runs of several services shall not meet at the acquirer for ever. */
const JITTER = 0.1;

type LeasedDeps = RunDeps & { checks: readonly Check[]; intervalMs: number };

type LeasedRun = { token: string; full: boolean; stopping: AbortSignal };

/**
 * Runs all checks, one after the other, for as long as the lease is ours and nobody stops us; then records when the
 * next run is due. A run that does not finish leaves it due at once.
 */
export async function runUnderLease(deps: LeasedDeps, run: LeasedRun): Promise<void> {
  const { token, full, stopping } = run;
  const lost = new AbortController();
  const signal = AbortSignal.any([stopping, lost.signal]);
  const renewal = setInterval(() => void renew(), LEASE_RENEWAL_MS);
  try {
    const startedAt = await readDatabaseTime(deps.db);
    const runs: CheckRun[] = [];
    for (const check of deps.checks) {
      signal.throwIfAborted();
      runs.push(await runCheck(deps, check, { token, full, signal }));
    }
    const pending = await confirmAll(deps, runs, { token, full, signal });
    await finishRun(deps.db, { token, startedAt, dueInMs: nextRunInMs(deps, pending) });
  } catch (error) {
    await releaseLease(deps.db, token).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(renewal);
  }

  /** A database that does not answer is no proof that the lease is lost: every write checks the token. */
  async function renew(): Promise<void> {
    const kept = await renewLease(deps.db, token, LEASE_MS).catch(() => true);
    if (!kept) lost.abort();
  }
}

/**
 * One pause for all checks that have found something for the first time, and a second comparison of that. A run that
 * finds nothing new ends without it. Returns how many differences are no breaks yet.
 */
async function confirmAll(
  deps: LeasedDeps,
  runs: readonly CheckRun[],
  run: { token: string; full: boolean; signal: AbortSignal },
): Promise<number> {
  const isNew = runs.some(({ unconfirmed }) => unconfirmed.length > 0);
  if (isNew) await delay(deps.confirmMs + CLOCK_STEP_MS, undefined, { signal: run.signal });
  let pending = 0;
  for (const one of runs) {
    pending += one.unconfirmed.length > 0 ? await confirmCheck(deps, one, run) : one.pending;
  }
  return pending;
}

/** What was young is compared again once it is not, so that a break shows soon after its window. */
function nextRunInMs({ intervalMs, windowMs }: LeasedDeps, pending: number): number {
  const soon = pending > 0 ? Math.min(intervalMs, Math.max(windowMs, 1)) : intervalMs;
  return Math.round(soon * (1 - JITTER * Math.random()));
}
