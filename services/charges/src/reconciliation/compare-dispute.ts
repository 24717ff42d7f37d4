import type { AcquirerDispute } from '@pixmesh/acquirer/acquirer';
import type { FoundBreak } from '@pixmesh/reconciliation/check';

import type { ComparedDispute } from './dispute-check.sql.ts';

type OurState = ComparedDispute['status'];

/** What ours may be for the acquirer's status: a defense or a deadline shows here before it shows there. */
const ALLOWED: Readonly<Record<AcquirerDispute['status'], readonly OurState[]>> = {
  open: ['open', 'under_review'],
  under_review: ['under_review'],
  accepted: ['lost'],
  rejected: ['won'],
  canceled: ['won'],
};

/** The differences of one infraction: left the acquirer's, right ours. */
export function compareDispute(
  theirs: AcquirerDispute | null,
  ours: ComparedDispute | null,
): FoundBreak[] {
  if (theirs === null) {
    if (ours === null) return [];
    const { infractionId: id, status: found, amount: amountCents, changedAt } = ours;
    return [{ kind: 'missing_left', id, found, amountCents, changedAt }];
  }
  const { id, status: expected, amountCents } = theirs;
  if (ours === null) {
    const changedAt = theirs.decidedAt ?? theirs.openedAt;
    return [{ kind: 'missing_right', id, expected, amountCents, changedAt }];
  }
  const { changedAt } = ours;
  if (ours.amount !== amountCents) {
    const [theirText, ourText] = [String(amountCents), String(ours.amount)];
    const difference = ours.amount - amountCents;
    return [
      {
        kind: 'amount',
        id,
        expected: theirText,
        found: ourText,
        amountCents: difference,
        changedAt,
      },
    ];
  }
  if (ALLOWED[expected].includes(ours.status)) return [];
  // A charge that was refunded in full has closed its dispute, whatever the acquirer makes of it (decision 79).
  if (ours.chargeStatus === 'refunded' && ours.status === 'lost') return [];
  return [{ kind: 'state', id, expected, found: ours.status, changedAt }];
}
