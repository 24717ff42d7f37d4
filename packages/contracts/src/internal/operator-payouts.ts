import type { PayoutId } from '@pixmesh/kernel/ids';
import { z } from 'zod';

import { InstantText, UpperInstantText } from '../http/instant-text.ts';
import { Payout, PayoutStatus } from '../http/payout.ts';
import { QueryText } from '../http/query-fields.ts';
import { Timestamp } from '../timestamp.ts';
import { AnyCaseId, idOf } from './id-fields.ts';
import { SentBody } from './sent-body.ts';
import { AccountSettings } from './caller-claims.ts';
import { LastStatusCheck, statusCheckOf } from './status-check.ts';

/**
 * Payouts for operators: routes of the payouts service that only the gateway calls. Who acts stands in its claims,
 * what the account's settings are now in the body; the gateway has checked both.
 *
 * Codes beside `VALIDATION_ERROR`: `PAYOUT_NOT_FOUND` 404, `PAYOUT_NOT_PENDING` 409, `APPROVER_MUST_DIFFER` 422,
 * `PAYOUTS_DISABLED` 422; the creation answers those of `POST /v1/payouts`.
 */
export const OPERATOR_PAYOUT_PATHS = {
  /** POST `RequestPayoutBody` → 201 `OperatorPayout`, with the replay headers of `/v1`. */
  request: '/internal/accounts/:id/payouts',
  /** GET with `ListOperatorPayoutsQuery`, `limit`, `starting_after` → list of `OperatorPayout`, newest first. */
  list: '/internal/payouts',
  /** GET → `OperatorPayout`. */
  get: '/internal/payouts/:id',
  /** POST `ApprovePayoutBody` → 200 `OperatorPayout`; a repeat too, marked `Idempotent-Replayed`. */
  approve: '/internal/payouts/:id/approve',
  /** POST → 200 `OperatorPayout`; a repeat likewise. */
  cancel: '/internal/payouts/:id/cancel',
  /**
   * POST → 200 `StatusCheck of OperatorPayout`: the acquirer is asked for the payout now. `CONFLICT` 409
   * for one that was never ordered there.
   */
  check: '/internal/payouts/:id/check',
} as const;

/** A payout that an operator requests; it always waits for a second one, whatever the account's settings. */
export const RequestPayoutBody = z.object({
  /** Derived from the `Idempotency-Key` and the account (decision 229), or a fresh UUIDv7 where none was sent. */
  creation_id: idOf<PayoutId>(),
  settings: AccountSettings,
  /**
   * The request's JSON object as it came, validated as the body of `POST /v1/payouts`; null where it could not be
   * read as one, which is a fault of `body` unless the id has its payout already (decision 253).
   */
  body: SentBody,
});
export type RequestPayoutBody = z.output<typeof RequestPayoutBody>;

/** `settings` of the payout's account, read right before: approval checks the switches again (decision 123). */
export const ApprovePayoutBody = z.object({ settings: AccountSettings });
export type ApprovePayoutBody = z.output<typeof ApprovePayoutBody>;

/** Filters of the operators' list, beside paging; text that cannot be stored is a fault of its parameter. */
export const ListOperatorPayoutsQuery = z.object({
  account_id: AnyCaseId.optional(),
  status: PayoutStatus.optional(),
  source: z.enum(['api', 'dashboard']).optional(),
  reference: QueryText.optional(),
  end_to_end_id: QueryText.optional(),
  created_after: InstantText.optional(),
  created_before: UpperInstantText.optional(),
});
export type ListOperatorPayoutsQuery = z.output<typeof ListOperatorPayoutsQuery>;

/** The payout as operators see it: the public fields, and what explains where it stands. */
export const OperatorPayout = Payout.extend({
  account_id: z.uuid(),
  /** Null for a payout of the dashboard. */
  application_id: z.uuid().nullable(),
  source: z.enum(['api', 'dashboard']),
  /** Operators of four eyes; a payout of the API was requested by its application (decision 123). */
  requested_by: z.uuid().nullable(),
  approved_by: z.uuid().nullable(),
  pending_reason: z.string().nullable().meta({
    description: 'Why it waits for approval although payouts of its account are automatic.',
  }),
  /** Names the money of this payout in the ledger. */
  hold_id: z.uuid(),
  /** As soon as the acquirer has named it, not only once completed. */
  end_to_end_id: z.string().nullable(),
  /** What the acquirer says against the final status (decision 120). */
  contradiction: z.string().nullable(),
  /** Where sending stands. */
  send: z.object({
    /** When the acquirer is to be called; null: there is nothing to send, or it has answered. */
    send_at: Timestamp.nullable(),
    /** Calls without a definite answer so far. */
    unanswered_puts: z.int().min(0),
    last_put_at: Timestamp.nullable(),
    last_put_error: z.string().nullable().meta({
      description: 'Why the last call has no answer, in the words of a status check.',
    }),
    /** A refusal that does not count yet, because an earlier call may still pay (decision 119). */
    uncounted_refusal: z.string().nullable(),
    /** The end that was ordered from the ledger and is not confirmed yet. */
    ending: z.enum(['settle', 'release']).nullable(),
  }),
  status_check: LastStatusCheck,
});
export type OperatorPayout = z.output<typeof OperatorPayout>;

export const PayoutStatusCheck = statusCheckOf(OperatorPayout);
export type PayoutStatusCheck = z.output<typeof PayoutStatusCheck>;
