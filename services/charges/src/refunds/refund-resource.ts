import type { Refund } from '@pixmesh/contracts/internal/operator-charges';

import type { VisibleRefund } from './refund-row.ts';

/** The refund as operators see it. */
export function toRefundResource(row: VisibleRefund): Refund {
  return {
    id: row.id,
    object: 'refund',
    charge_id: row.chargeId,
    end_to_end_id: row.endToEndId,
    amount: Number(row.amount),
    status: row.status,
    failure_reason: row.failureReason,
    return_id: row.returnId,
    created_at: row.createdAt.toISOString(),
    completed_at: row.completedAt?.toISOString() ?? null,
  };
}
