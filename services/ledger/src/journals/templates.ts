import type { AccountId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';

import type { AccountKind } from '#accounts/chart-of-accounts.ts';

/** One movement on one ledger account: above zero a credit, below zero a debit. */
export type Posting = { accountId: AccountId; kind: AccountKind; amount: bigint };

/**
 * Every way in which money may move. A template nets to zero for every amount and touches each account at most
 * once; the database refuses whatever does not.
 */
export const TEMPLATES = {
  /** A received Pix that its merchant may spend at once. */
  creditReceivedPix: (accountId: AccountId, amount: Cents) =>
    transfer(accountId, amount, { from: 'acquirer_clearing', to: 'available' }),
  /** A received Pix that becomes available later (decision 133). */
  creditReceivedPixPending: (accountId: AccountId, amount: Cents) =>
    transfer(accountId, amount, { from: 'acquirer_clearing', to: 'pending' }),
  /** A received Pix that no charge accepts; the platform's own account holds what nobody owns. */
  suspendReceivedPix: (accountId: AccountId, amount: Cents) =>
    transfer(accountId, amount, { from: 'acquirer_clearing', to: 'suspense' }),
} as const;

function transfer(
  accountId: AccountId,
  amount: Cents,
  way: { from: AccountKind; to: AccountKind },
): readonly Posting[] {
  return [
    { accountId, kind: way.from, amount: 0n - amount },
    { accountId, kind: way.to, amount },
  ];
}
