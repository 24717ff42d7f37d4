import type { FailureReason } from '#exchange/attempt-failure.ts';

/** What an attempt says of its account is forgotten after this time. */
export const REACH_KEPT_MS = 300_000;

/** Between us and the receiver nothing came through: the fault may be either's. */
const UNREACHED: ReadonlySet<FailureReason> = new Set([
  'dns_failed',
  'address_refused',
  'connect_failed',
  'tls_failed',
  'connection_lost',
  'timeout',
]);
/** No connection was tried. */
const UNTRIED: ReadonlySet<FailureReason> = new Set(['url_refused', 'secret_unreadable']);

/**
 * Accounts to which this process has lately sent. An account counts once, however many of its receivers fail and
 * however often: many that are not reached at all are a fault of ours, and not of one merchant.
 */
export type ReachedAccounts = {
  note(accountId: string, reason: FailureReason | null): void;
  count(): { reached: number; unreached: number };
};

export function createReachedAccounts(now = () => performance.now()): ReachedAccounts {
  const reachedMs = new Map<string, number>();
  const unreachedMs = new Map<string, number>();
  return { note, count };

  function note(accountId: string, reason: FailureReason | null): void {
    if (reason !== null && UNTRIED.has(reason)) return;
    const isUnreached = reason !== null && UNREACHED.has(reason);
    (isUnreached ? unreachedMs : reachedMs).set(accountId, now());
  }

  function count(): { reached: number; unreached: number } {
    const sinceMs = now() - REACH_KEPT_MS;
    forgetBefore(reachedMs, sinceMs);
    forgetBefore(unreachedMs, sinceMs);
    const unreached = [...unreachedMs.keys()].filter((id) => !reachedMs.has(id)).length;
    return { reached: reachedMs.size, unreached };
  }
}

function forgetBefore(noted: Map<string, number>, sinceMs: number): void {
  for (const [accountId, notedMs] of noted) if (notedMs < sinceMs) noted.delete(accountId);
}
