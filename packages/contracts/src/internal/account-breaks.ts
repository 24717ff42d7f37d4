import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';

/** GET → `AccountBreaks`: asked by payouts, of every service whose checks stop payouts (ADR 0031). */
export const ACCOUNT_BREAKS_PATH = '/internal/reconciliation/account-breaks';

/**
 * Checks and kinds of breaks that stop the payouts of their account: the books show money that is not there, or
 * contradict themselves. No other break stops anything, whatever account it names. The guide says what each means.
 */
export const BREAKS_THAT_STOP = {
  received: ['missing_left', 'amount', 'state'],
  credit: ['missing_left', 'amount', 'state'],
  hold: ['missing_left', 'amount'],
  settlement: ['missing_left', 'missing_right', 'amount', 'state'],
  payout: ['amount'],
  ledger_sum: ['sum', 'missing_left', 'missing_right'],
  balance: ['balance', 'running_balance', 'version'],
  suspense: ['balance'],
  hold_entries: ['balance'],
  pending_entries: ['balance'],
  blocked_entries: ['balance'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Kind of the one break, without an account, that stands for those of a check that has more than are kept. */
export const TOO_MANY = 'too_many';

/** A confirmed break that names the account whose books it is about. */
export const AccountBreak = z.object({
  check: z.string(),
  kind: z.string(),
  id: z.string(),
  /** Null for `TOO_MANY`: which accounts the rest is about is not known. */
  account_id: z.uuid().nullable(),
  /** When it was first seen. One that heals and comes back has another. */
  since: Timestamp,
});
export type AccountBreak = z.output<typeof AccountBreak>;

export const AccountBreaks = z.object({ breaks: z.array(AccountBreak) });

/** Whether a break stops payouts: of its account, or of all. */
export function stopsPayouts({ check, kind }: Pick<AccountBreak, 'check' | 'kind'>): boolean {
  const kinds: Readonly<Record<string, readonly string[]>> = BREAKS_THAT_STOP;
  return kind === TOO_MANY || (kinds[check]?.includes(kind) ?? false);
}
