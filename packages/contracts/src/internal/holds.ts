import { z } from 'zod';

import { WireAmount, WireCents } from '../wire-cents.ts';

/**
 * Holds of the ledger, by HTTP: the one synchronous money command. Everything about a hold is sticky by its id
 * for ever, refusals too (decision 134).
 *
 * `PUT /internal/holds/{hold_id}` takes it; `POST /internal/holds/{hold_id}/void` makes sure that it is not and
 * never will be taken, or says that it was; `GET /internal/holds` pages through them for reconciliation.
 */
export const HoldState = z.enum(['refused', 'open', 'settled', 'released', 'voided']);
export type HoldState = z.infer<typeof HoldState>;

/** Body of taking a hold: amount and fee leave `available` together, or not at all. */
export const TakeHoldBody = z.object({
  account_id: z.uuid(),
  /** The payout or refund it is for: at most one hold of it is ever open or settled. */
  resource_id: z.uuid(),
  kind: z.enum(['payout', 'refund']),
  amount: WireAmount,
  fee: WireCents,
});
export type TakeHoldBody = z.output<typeof TakeHoldBody>;

/** `held`: the money is (or was) reserved, whatever became of it since. */
export const TakeHoldAnswer = z.object({
  hold_id: z.uuid(),
  outcome: z.enum(['held', 'refused']),
  reason: z.enum(['insufficient_balance', 'voided', 'resource_held']).nullable(),
  state: HoldState,
});
export type TakeHoldAnswer = z.output<typeof TakeHoldAnswer>;

export const VoidHoldBody = z.object({ account_id: z.uuid(), resource_id: z.uuid() });
export type VoidHoldBody = z.output<typeof VoidHoldBody>;

/** `voided`: nothing is held and a hold still in flight will be refused. `already_held`: finish what it is for. */
export const VoidHoldAnswer = z.object({
  hold_id: z.uuid(),
  outcome: z.enum(['voided', 'already_held']),
  state: HoldState,
});
export type VoidHoldAnswer = z.output<typeof VoidHoldAnswer>;

/** One hold in a page of `GET /internal/holds?state=&kind=&starting_after=&limit=`, ordered by hold id, up to 1000. */
export const HoldItem = z.object({
  hold_id: z.uuid(),
  account_id: z.uuid(),
  resource_id: z.uuid(),
  /** Null where the hold was voided or released before it came; its amount is 0 then. */
  kind: z.enum(['payout', 'refund']).nullable(),
  amount: WireCents,
  fee: WireCents,
  state: HoldState,
  created_at: z.iso.datetime({ precision: 3 }),
});
export type HoldItem = z.output<typeof HoldItem>;
