import type { AnswerWord } from '@pixmesh/acquirer/describe-answer';
import type { PixKeyType, PayoutStatus } from '@pixmesh/contracts/http/payout';
import type { AccountId, ApplicationId, HoldId, OperatorId, PayoutId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';

/** An `intent` is stored before its hold is taken, and shown to nobody. */
export type StoredStatus = 'intent' | PayoutStatus;

/** A payout as stored, mapped at the edge of `payouts.sql.ts`. */
export type PayoutRow = {
  id: PayoutId;
  accountId: AccountId;
  applicationId: ApplicationId | null;
  source: 'api' | 'dashboard';
  status: StoredStatus;
  amount: Cents;
  fee: Cents;
  description: string | null;
  reference: string | null;
  recipientName: string | null;
  recipientDocument: string | null;
  pixKeyType: PixKeyType;
  pixKey: string;
  pixKeyCanonical: string;
  webhookUrl: string | null;
  webhookSealedSecret: string | null;
  fingerprint: Buffer;
  isAutomatic: boolean;
  /** Why it waits for approval although it is automatic, or did. */
  pendingReason: string | null;
  holdId: HoldId;
  requestedBy: OperatorId | null;
  approvedBy: OperatorId | null;
  endToEndId: string | null;
  failureReason: string | null;
  createdAt: Date;
  processedAt: Date | null;
  version: number;
  eventSequence: number;
  /** When to call the acquirer; null: there is nothing to send. */
  sendAt: Date | null;
  unansweredCalls: number;
  lastCallAt: Date | null;
  /** Why the last call has no answer; null where none has been without one since the payout last changed. */
  lastCallError: string | null;
  uncountedRefusal: string | null;
  /** The end that was ordered from the ledger and is not confirmed yet. */
  ending: 'settle' | 'release' | null;
  endingReason: string | null;
  contradiction: string | null;
  checks: number;
  checkTraceparent: string | null;
  /** Who checks the payout at the acquirer, if this read took the lease. */
  leaseToken: string | null;
  /** Of the last status check since the payout last changed. */
  lastCheckAt: Date | null;
  lastCheckAnswer: AnswerWord | null;
  /** Null: only when requested. */
  nextCheckAt: Date | null;
  /** Database time of the read, for decisions that compare times. */
  readAt: Date;
};

/** A payout that may be shown: no intent. */
export type VisiblePayout = PayoutRow & { status: PayoutStatus };

export function isVisible(row: PayoutRow): row is VisiblePayout {
  return row.status !== 'intent';
}
