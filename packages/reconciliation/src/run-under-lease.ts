import type { Check } from './check.ts';
import { finishRun, readDatabaseTime, releaseLease, renewLease } from './reconciliation.sql.ts';
import { runCheck, type RunDeps } from './run-check.ts';

/** A replica that dies in a run is followed after this long; the run itself may take any time. */
export const LEASE_MS = 30_000;
const LEASE_RENEWAL_MS = LEASE_MS / 3;
/** Runs of several services shall not meet at the acquirer for ever. */
const JITTER = 0.1;

type LeasedDeps = RunDeps & { checks: readonly Check[]; intervalMs: number };

type LeasedRun = { token: string; full: boolean; stopping: AbortSignal };

/**
 * Runs all checks, one after the other, for as long as the lease is ours and nobody stops us; then records when the next
 * run is due. A run that does not finish leaves it due at once.
 */
export async function runUnderLease(deps: LeasedDeps, run: LeasedRun): Promise<void> {
  const { token, full, stopping } = run;
  const lost = new AbortController();
  const signal = AbortSignal.any([stopping, lost.signal]);
  const renewal = setInterval(() => void renew(), LEASE_RENEWAL_MS);
  try {
    const startedAt = await readDatabaseTime(deps.db);
    let pending = 0;
    for (const check of deps.checks) {
      signal.throwIfAborted();
      pending += await runCheck(deps, check, { token, full, signal });
    }
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

/** What was young is compared again once it is not, so that a break shows soon after its window. */
function nextRunInMs({ intervalMs, windowMs }: LeasedDeps, pending: number): number {
  const soon = pending > 0 ? Math.min(intervalMs, Math.max(windowMs, 1)) : intervalMs;
  return Math.round(soon * (1 - JITTER * Math.random()));
}
