import type { AnswerWord } from '@pixmesh/acquirer/describe-answer';
import type { LatePaymentPolicy } from '@pixmesh/contracts/http/account';
import type { ChargeStatus } from '@pixmesh/contracts/http/charge';
import type { ResourceSource } from '@pixmesh/contracts/messages/resource-event';
import type { AccountId, ApplicationId, ChargeId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';
import type { z } from 'zod';

/** Statuses that are stored; `expired` is derived at read time (`isExpired`) and never written (decision 84). */
export type StoredStatus = Exclude<ChargeStatus, 'expired'>;

/** A charge as stored, mapped at the edge of `charges.sql.ts`. */
export type ChargeRow = {
  id: ChargeId;
  accountId: AccountId;
  applicationId: ApplicationId | null;
  source: ResourceSource;
  status: StoredStatus;
  amount: Cents;
  description: string | null;
  reference: string | null;
  customer: { name: string; email: string; document: string } | null;
  webhookUrl: string | null;
  webhookSealedSecret: string | null;
  expiresIn: number;
  /** The account's default when it was created; null for a charge from before that was stored. */
  defaultExpiresIn: number | null;
  latePaymentPolicy: z.infer<typeof LatePaymentPolicy>;
  releaseDelaySeconds: number;
  fingerprint: Buffer;
  brCode: string | null;
  acceptedE2e: string | null;
  endToEndId: string | null;
  failureReason: string | null;
  /** What refunds gave back so far (decision 77). */
  refundedAmount: Cents;
  createdAt: Date;
  expiresAt: Date;
  paidAt: Date | null;
  version: number;
  eventSequence: number;
  unansweredCalls: number;
  lastCallAt: Date | null;
  /** Why the last call has no answer; null where none has been without one since the charge last changed. */
  lastCallError: string | null;
  firstNotFoundAt: Date | null;
  uncountedRefusal: string | null;
  checks: number;
  /** Of the status check under way, by this process or another; a `LeasedCharge` has its own. */
  leaseToken: string | null;
  checkTraceparent: string | null;
  /** Of the last status check since the charge last changed. */
  lastCheckAt: Date | null;
  lastCheckAnswer: AnswerWord | null;
  /** Null: only when requested. */
  nextCheckAt: Date | null;
  /** Database time of the read, for decisions that compare times; in milliseconds, as all times are stored. */
  readAt: Date;
};

/** What `/v1` shows of a charge is made of this. */
export type ShownCharge = Pick<
  ChargeRow,
  | 'id'
  | 'status'
  | 'amount'
  | 'description'
  | 'reference'
  | 'customer'
  | 'webhookUrl'
  | 'brCode'
  | 'acceptedE2e'
  | 'endToEndId'
  | 'failureReason'
  | 'refundedAmount'
  | 'createdAt'
  | 'expiresAt'
  | 'paidAt'
  | 'readAt'
>;

/** A charge that this process has just leased. */
export type LeasedCharge = ChargeRow & {
  /** By `performance.now()`, before the lease was asked for: it ends no earlier than its length after that. */
  leasedFromMs: number;
};
