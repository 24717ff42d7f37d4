import type { AccountId } from '@pixmesh/kernel/ids';
import { z } from 'zod';

import { orNull } from '../http/optional-field.ts';
import { WireBalance } from '../wire-cents.ts';
import { idOf } from './id-fields.ts';

/**
 * `POST /internal/suspense/{id}/resolve` of the service that booked the item (decision 141), called by the gateway with
 * the item as the ledger shows it (`GET /internal/suspense/{id}`). Answers 202 `SuspenseResolution`; a repeat of the
 * same action too. The whole of what is left of the item is resolved: parts of a Pix may have gone back before. Codes:
 * `CONFLICT` 409 where another action came first, and for what cannot be done with an item of a payout, with the reason
 * in `message`: `return` (the acquirer sends back only what was received), and `accept` of money that has left, or of
 * which the acquirer, asked anew, does not confirm that it stayed; `VALIDATION_ERROR` where `account_id` is missing for
 * money that nobody owns, or names another owner.
 */
export const RESOLVE_SUSPENSE_PATH = '/internal/suspense/:id/resolve';

export const SuspenseAction = z.enum(['accept', 'return']);
export type SuspenseAction = z.infer<typeof SuspenseAction>;

/** What the operator sends. `account_id`: who gets money that nobody owned; the gateway has seen that it exists. */
export const ResolveSuspenseBody = z.object({
  action: SuspenseAction,
  account_id: z
    .uuid()
    .nullish()
    .transform((id) => (id?.toLowerCase() ?? null) as AccountId | null),
});
export type ResolveSuspenseBody = z.output<typeof ResolveSuspenseBody>;

export const ResolveSuspenseRequest = ResolveSuspenseBody.extend({
  item: z.object({
    account_id: idOf<AccountId>().nullable(),
    end_to_end_id: z.string().nullable(),
    charge_id: z.uuid().nullable(),
    /** Of an item that payouts booked. */
    payout_id: orNull(z.uuid()),
    /** Below zero where money has left. */
    amount: WireBalance,
  }),
});
export type ResolveSuspenseRequest = z.output<typeof ResolveSuspenseRequest>;

/** `processing` until the ledger has booked it, and for a return until the acquirer has sent the money back. */
export const SuspenseResolution = z.object({
  id: z.uuid(),
  object: z.literal('suspense_resolution'),
  action: SuspenseAction,
  account_id: z.uuid().nullable(),
  amount: z.int().min(1),
  status: z.enum(['processing', 'completed', 'failed']),
  failure_reason: z.string().nullable(),
});
export type SuspenseResolution = z.output<typeof SuspenseResolution>;
