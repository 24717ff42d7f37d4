import type { ChargeId, RefundId } from '@pixmesh/kernel/ids';
import { z } from 'zod';

import { Charge, ChargeStatus } from '../http/charge.ts';
import { InstantText, UpperInstantText } from '../http/instant-text.ts';
import { orNull } from '../http/optional-field.ts';
import { QueryText } from '../http/query-fields.ts';
import { Timestamp } from '../timestamp.ts';
import { AnyCaseId, idOf } from './id-fields.ts';
import { SentBody } from './sent-body.ts';
import { AccountSettings } from './caller-claims.ts';
import { LastStatusCheck, statusCheckOf } from './status-check.ts';

/**
 * Charges and their refunds for operators: routes of the charges service that only the gateway calls. Who acts stands
 * in its claims, what the account's settings are now in the body.
 *
 * Codes beside `VALIDATION_ERROR`: `CHARGE_NOT_FOUND` 404, `CHARGE_NOT_PENDING` 409 (cancel), `CHARGE_NOT_REFUNDABLE`
 * 409, `REFUND_EXCEEDS_CHARGE` 422, `INSUFFICIENT_BALANCE` 400; the creation answers those of `POST /v1/charges`.
 */
export const OPERATOR_CHARGE_PATHS = {
  /** POST `RequestChargeBody` → 201 `OperatorCharge`, with the replay headers of `/v1`: a checkout charge. */
  request: '/internal/accounts/:id/charges',
  /** GET with `ListOperatorChargesQuery`, `limit`, `starting_after` → list of `OperatorCharge`, newest first. */
  list: '/internal/charges',
  /** GET → `OperatorCharge`. */
  get: '/internal/charges/:id',
  /** POST → 200 `OperatorCharge`; a repeat too, marked `Idempotent-Replayed`. */
  cancel: '/internal/charges/:id/cancel',
  /** POST `RequestRefundBody` → 201 `Refund`, with the replay headers; GET → list of `Refund`, newest first. */
  refunds: '/internal/charges/:id/refunds',
  /** POST → 200 `StatusCheck of OperatorCharge`: the acquirer is asked for the charge now. */
  check: '/internal/charges/:id/check',
} as const;

/** A checkout charge: announced, and invisible to `/v1` (decisions 97, 178). Its body is validated as that of `/v1`. */
export const RequestChargeBody = z.object({
  /** Derived from the `Idempotency-Key` and the account (decision 229), or a fresh UUIDv7 where none was sent. */
  creation_id: idOf<ChargeId>(),
  settings: AccountSettings,
  body: SentBody,
});
export type RequestChargeBody = z.output<typeof RequestChargeBody>;

/** `refund_id` is derived from the `Idempotency-Key` and the account: the key is required. */
export const RequestRefundBody = z.object({
  refund_id: idOf<RefundId>(),
  body: SentBody,
});
export type RequestRefundBody = z.output<typeof RequestRefundBody>;

/** Filters of the operators' list, beside paging. */
export const ListOperatorChargesQuery = z.object({
  account_id: AnyCaseId.optional(),
  status: ChargeStatus.optional(),
  source: z.enum(['api', 'dashboard', 'checkout']).optional(),
  reference: QueryText.optional(),
  end_to_end_id: QueryText.optional(),
  created_after: InstantText.optional(),
  created_before: UpperInstantText.optional(),
});
export type ListOperatorChargesQuery = z.output<typeof ListOperatorChargesQuery>;

/** The charge as operators see it: the public fields, and what explains where it stands. */
export const OperatorCharge = Charge.extend({
  account_id: z.uuid(),
  /** Null for a charge of the checkout or the dashboard. */
  application_id: z.uuid().nullable(),
  source: z.enum(['api', 'dashboard', 'checkout']),
  /** The Pix that pays it, from its recording on: paid in progress until the ledger has credited it (decision 69). */
  accepted_end_to_end_id: z.string().nullable(),
  issuing: z.object({
    /** Calls without a definite answer so far. */
    unanswered_puts: z.int().min(0),
    last_put_at: Timestamp.nullable(),
    last_put_error: z.string().nullable().meta({
      description: 'Why the last call has no answer, in the words of a status check.',
    }),
    /** A refusal that does not count yet (decision 62). */
    uncounted_refusal: z.string().nullable(),
  }),
  status_check: LastStatusCheck,
});
export type OperatorCharge = z.output<typeof OperatorCharge>;

export const ChargeStatusCheck = statusCheckOf(OperatorCharge);
export type ChargeStatusCheck = z.output<typeof ChargeStatusCheck>;

export const RefundStatus = z.enum(['processing', 'completed', 'failed']);
export type RefundStatus = z.infer<typeof RefundStatus>;

/** A refund that an operator asked for (decision 76). Amount in cents. */
export const Refund = z.object({
  id: z.uuid(),
  object: z.literal('refund'),
  charge_id: z.uuid(),
  end_to_end_id: z.string(),
  amount: z.int().min(1),
  status: RefundStatus,
  failure_reason: z.string().nullable(),
  /** The settlement system's id of the return, once it is known. */
  return_id: z.string().nullable(),
  created_at: Timestamp,
  completed_at: Timestamp.nullable(),
});
export type Refund = z.output<typeof Refund>;

/** Body of `POST /admin/charges/{id}/refunds`; without an amount, all that is left of the charge. */
export const CreateRefundBody = z.object({
  amount: orNull(z.int().min(1)),
});
export type CreateRefundBody = z.output<typeof CreateRefundBody>;
