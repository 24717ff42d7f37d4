import type { Payout } from '@pixmesh/contracts/http/payout';

import type { VisiblePayout } from './payout-row.ts';

/** The payout as every route and event shows it. Fields are named one by one: nothing else can slip out. */
export function toPayoutResource(row: VisiblePayout): Payout {
  return {
    id: row.id,
    object: 'payout',
    status: row.status,
    method: 'pix',
    amount: Number(row.amount),
    fee: Number(row.fee),
    currency: 'BRL',
    description: row.description,
    reference: row.reference,
    recipient: {
      name: row.recipientName,
      document: row.recipientDocument,
      pix_key_type: row.pixKeyType,
      pix_key: row.pixKey,
    },
    // Known from the send on, but promised only for money that has arrived (decision 121).
    end_to_end_id: row.status === 'completed' ? row.endToEndId : null,
    failure_reason: row.failureReason,
    webhook_url: row.webhookUrl,
    processed_at: row.processedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
  };
}
