import { setTimeout as delay } from 'node:timers/promises';

import type { Check } from './check.ts';
import {
  finishFullRun,
  finishIncrementalRun,
  type Lease,
  LEASE_MS,
  releaseLease,
  renewLease,
} from './leases.sql.ts';
import { type CheckRun, confirmCheck, runCheck, type RunDeps } from './run-check.ts';

const LEASE_RENEWAL_MS = LEASE_MS / 3;
/** Times are stored in milliseconds, and the database's clock is not the timer's. */
const CLOCK_STEP_MS = 50;
/** Spreads the runs of several services, so that they do not always call the acquirer at the same time. */
const JITTER = 0.1;

export type LeasedDeps = RunDeps & { intervalMs: number };

type LeasedRun = { lease: Lease; checks: readonly Check[]; stopping: AbortSignal };

/**
 * Runs checks, one after the other, for as long as the lease is ours and nobody stops us; then releases the lease and
 * records that the run has ended. One that does not end is due at once.
 */
export async function runUnderLease(deps: LeasedDeps, run: LeasedRun): Promise<void> {
  const { lease, checks, stopping } = run;
  const lost = new AbortController();
  const signal = AbortSignal.any([stopping, lost.signal]);
  const renewal = setInterval(() => void renew(), LEASE_RENEWAL_MS);
  try {
    const runs: CheckRun[] = [];
    for (const check of checks) {
      signal.throwIfAborted();
      runs.push(await runCheck(deps, check, { lease, signal }));
    }
    const pending = await confirmAll(deps, runs, { lease, signal });
    await finish(deps, lease, pending);
  } catch (error) {
    await releaseLease(deps.db, lease).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(renewal);
  }

  /** A database that does not answer is no proof that the lease is lost: every write checks the token. */
  async function renew(): Promise<void> {
    const kept = await renewLease(deps.db, lease).catch(() => true);
    if (!kept) lost.abort();
  }
}

async function finish(deps: LeasedDeps, { kind, token }: Lease, pending: number): Promise<void> {
  if (kind === 'full') await finishFullRun(deps.db, token);
  else await finishIncrementalRun(deps.db, { token, dueInMs: nextRunInMs(deps, pending) });
}

/**
 * One pause for all checks that have found something for the first time, and a second comparison of that. A run that
 * finds nothing new ends without it. Returns how many differences are no breaks yet.
 */
async function confirmAll(
  deps: LeasedDeps,
  runs: readonly CheckRun[],
  run: { lease: Lease; signal: AbortSignal },
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
