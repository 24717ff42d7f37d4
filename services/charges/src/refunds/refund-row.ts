import type { RefundStatus } from '@pixmesh/contracts/internal/operator-charges';
import type { AccountId, ChargeId, HoldId, OperatorId, RefundId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';

/** A refund as stored, mapped at the edge of `refunds.sql.ts`. */
export type RefundRow = {
  /** Without hyphens the id of the return at the acquirer. */
  id: RefundId;
  chargeId: ChargeId;
  accountId: AccountId;
  endToEndId: string;
  amount: Cents;
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
  version: number;
  unansweredCalls: number;
  lastCallAt: Date | null;
  uncountedRefusal: string | null;
  checks: number;
  checkTraceparent: string | null;
  leaseToken: string | null;
  /** Database time of the read, for decisions that compare times. */
  readAt: Date;
};

/** A refund that may be shown: no intent. */
export type VisibleRefund = RefundRow & { status: RefundStatus };

export function isVisible(row: RefundRow): row is VisibleRefund {
  return row.status !== 'intent';
}
