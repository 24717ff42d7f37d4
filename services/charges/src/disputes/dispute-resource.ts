import type { Dispute } from '@pixmesh/contracts/http/dispute';
import type { OperatorDispute } from '@pixmesh/contracts/internal/operator-disputes';

import type { ChargeRow } from '#charge/charge-row.ts';

import { readReason } from './dispute-reason.ts';
import type { DisputeRow } from './dispute-row.ts';

/** The dispute as its events show it. `reference` is the charge's (decision 188). */
export function toDisputeResource(
  dispute: DisputeRow,
  charge: Pick<ChargeRow, 'reference'>,
): Dispute {
  return {
    id: dispute.id,
    object: 'dispute',
    charge_id: dispute.chargeId,
    status: dispute.status,
    method: 'pix',
    amount: Number(dispute.amount),
    returned_amount: Number(dispute.returnedAmount),
    currency: 'BRL',
    reference: charge.reference,
    reason: readReason(dispute.reason),
    arrived_resolved: dispute.arrivedResolved,
    opened_at: dispute.openedAt.toISOString(),
    defense_deadline_at: dispute.defenseDeadlineAt.toISOString(),
    resolved_at: dispute.resolvedAt?.toISOString() ?? null,
  };
}

export type DisputeMessage = { message: string; createdAt: Date };

/** The dispute as operators see it. */
export function toOperatorDispute(
  dispute: DisputeRow,
  charge: Pick<ChargeRow, 'reference'>,
  messages: readonly DisputeMessage[],
): OperatorDispute {
  const { defenseText: text, defenseSentAt: sentAt } = dispute;
  return {
    ...toDisputeResource(dispute, charge),
    account_id: dispute.accountId,
    end_to_end_id: dispute.endToEndId,
    infraction_id: dispute.infractionId,
    defense: text === null || sentAt === null ? null : { text, sent_at: sentAt.toISOString() },
    messages: messages.map(({ message, createdAt }) => ({
      message,
      created_at: createdAt.toISOString(),
    })),
  };
}
