import type { Charge, ChargeStatus, Receiver } from '@pixmesh/contracts/http/charge';

import type { ShownCharge } from './charge-row.ts';
import { shownStatus } from './expiry.ts';

/** The charge as every route and event shows it. Fields are named one by one: nothing else can slip out. */
export function toChargeResource(
  row: ShownCharge,
  receiver: Receiver,
  status: ChargeStatus = shownStatus(row),
): Charge {
  return {
    id: row.id,
    object: 'charge',
    status,
    amount: Number(row.amount),
    currency: 'BRL',
    method: 'pix',
    description: row.description,
    reference: row.reference,
    customer: row.customer,
    pix: { br_code: row.brCode, end_to_end_id: row.endToEndId },
    receiver,
    refunded_amount: Number(row.refundedAmount),
    webhook_url: row.webhookUrl,
    expires_at: row.status === 'failed' ? null : row.expiresAt.toISOString(),
    paid_at: row.paidAt?.toISOString() ?? null,
    failure_reason: row.failureReason,
    created_at: row.createdAt.toISOString(),
  };
}
