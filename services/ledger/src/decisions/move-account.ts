import type { AccountState } from '#accounts/chart-of-accounts.ts';

import type { Posting } from './templates.ts';

/** Parts that can owe nothing, whatever happens. */
const NEVER_BELOW_ZERO = ['pending', 'held', 'blocked'] as const;

type Journal = { postings: readonly Posting[]; atMs: number; mayForce: boolean };

/**
 * An owner's accounts after one more journal. What a forcing template leaves below zero is what was forced; any other
 * journal can only pay that back, so that no payout ever profits from a debit that the MED has forced.
 */
export function accountAfter(before: AccountState, journal: Journal): AccountState {
  const balances = { ...before.balances };
  for (const { kind, amount } of journal.postings) balances[kind] += amount;
  const owed = balances.available < 0n ? -balances.available : 0n;
  const paidBack = owed < before.forcedDebit ? owed : before.forcedDebit;
  return {
    balances,
    forcedDebit: journal.mayForce ? owed : paidBack,
    version: before.version + 1n,
    movedAtMs: journal.atMs,
  };
}

/** The database's own floors, checked before it has to refuse a whole batch. */
export function isAboveFloors({ balances, forcedDebit }: AccountState): boolean {
  return (
    balances.available + forcedDebit >= 0n && NEVER_BELOW_ZERO.every((kind) => balances[kind] >= 0n)
  );
}
