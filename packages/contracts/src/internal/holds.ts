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
  /**
   * The received Pix that a refund gives back, which bounds it: refunds and returns never exceed the Pix
   * (decision 79). What stands blocked of it is taken first. Required of a refund, absent of a payout.
   */
  end_to_end_id: z.string().min(1).max(64).optional(),
});
export type TakeHoldBody = z.output<typeof TakeHoldBody>;

/** `held`: the money is (or was) reserved, whatever became of it since. */
export const TakeHoldAnswer = z.object({
  hold_id: z.uuid(),
  outcome: z.enum(['held', 'refused']),
  /** `exceeds_received`: less is left of the Pix; `unknown_pix`: no credit of this account is booked for it. */
  reason: z
    .enum(['insufficient_balance', 'voided', 'resource_held', 'exceeds_received', 'unknown_pix'])
    .nullable(),
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
