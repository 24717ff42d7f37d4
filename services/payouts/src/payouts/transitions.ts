import type { StoredStatus } from './payout-row.ts';

/**
 * What may become of a payout. An intent is committed by `commit-intents.sql.ts` alone; one whose hold was refused or
 * voided is deleted. A payout that stays in its status records what is known of its money.
 */
export const TRANSITIONS: Readonly<Record<StoredStatus, readonly StoredStatus[]>> = {
  intent: ['pending', 'processing'],
  pending: ['processing', 'canceled'],
  processing: ['completed', 'failed'],
  completed: [],
  failed: [],
  canceled: [],
};

/** Whether a payout may move so. A final status is never left (decision 120). */
export function mayMove(from: StoredStatus, to: StoredStatus): boolean {
  return TRANSITIONS[from].includes(to);
}
