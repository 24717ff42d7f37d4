import type { RefundStatus } from '@pixmesh/contracts/internal/operator-charges';
import type { AccountId, ChargeId, HoldId, OperatorId, RefundId } from '@pixmesh/kernel/ids';

import type { OrderRow } from '#returns/return-orders.sql.ts';

/** A refund as stored, mapped at the edge of `refunds.sql.ts`. */
export type RefundRow = OrderRow & {
  /** Without hyphens the id of the return at the acquirer. */
  id: RefundId;
  chargeId: ChargeId;
  accountId: AccountId;
  /** An `intent` is stored before its hold is taken, and never shown. */
  status: 'intent' | RefundStatus;
  failureReason: string | null;
  /** The settlement system's id of the return. */
  returnId: string | null;
  holdId: HoldId;
  requestedBy: OperatorId;
  fingerprint: Buffer;
  createdAt: Date;
  completedAt: Date | null;
};

/** A refund that may be shown: no intent. */
export type VisibleRefund = RefundRow & { status: RefundStatus };

export function isVisible(row: RefundRow): row is VisibleRefund {
  return row.status !== 'intent';
}
