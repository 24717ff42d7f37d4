import { z } from 'zod';

import { TOPICS } from '../topics.ts';
import { WireAmount, WireBalance, WireCents } from '../wire-cents.ts';
import { messageEnvelope } from './message-envelope.ts';
import { defineMessage } from './message-type.ts';

/** On an outcome that is about a hold: `payout` or `refund`. Absent where the ledger does not know it. */
export const HOLD_KIND_HEADER = 'hold_kind';

/** The outcome of one command that came by topic, with the owner's balance right after it. */
function ledgerEvent<Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) {
  return defineMessage({
    topic: TOPICS.ledgerEvents,
    type,
    schema: messageEnvelope(
      z.literal<Type>(type),
      z.object({
        command_id: z.uuid(),
        journal_id: z.uuid(),
        ...shape,
        balance: z.object({ available: WireBalance, pending: WireBalance }),
      }),
    ),
  });
}

const RECEIVED_PIX = {
  end_to_end_id: z.string(),
  charge_id: z.uuid().nullable(),
  amount: WireAmount,
};

/** The credit of a received Pix stands in the ledger; the merchant can spend or await it. */
export const ReceivedPixCredited = ledgerEvent('received_pix.credited', RECEIVED_PIX);

/** The received Pix stands in suspense. */
export const ReceivedPixSuspended = ledgerEvent('received_pix.suspended', RECEIVED_PIX);

/** What went back without an order of ours stands in the books. */
export const ReceivedPixReturned = ledgerEvent('received_pix.returned', {
  charge_id: z.uuid(),
  end_to_end_id: z.string(),
  return_id: z.string(),
  amount: WireAmount,
});

const SUSPENSE_ITEM = {
  item_id: z.uuid(),
  end_to_end_id: z.string().nullable(),
  charge_id: z.uuid().nullable(),
  payout_id: z.uuid().nullish(),
  amount: WireAmount,
};

export const SuspenseResolved = ledgerEvent('suspense.resolved', {
  ...SUSPENSE_ITEM,
  action: z.enum(['accept', 'hand_over', 'return']),
});
export const SuspenseCredited = ledgerEvent('suspense.credited', SUSPENSE_ITEM);

const HOLD = {
  hold_id: z.uuid(),
  resource_id: z.uuid(),
  /** Zero where the release came before its hold, which takes nothing any more. */
  amount: WireCents,
  fee: WireCents,
};

export const HoldSettled = ledgerEvent('hold.settled', HOLD);
export const HoldReleased = ledgerEvent('hold.released', HOLD);

/** The hold had ended otherwise before this command; nothing moved. */
export const HoldEndRefused = ledgerEvent('hold.end_refused', {
  ...HOLD,
  /** What the command wanted, and how the hold had ended. */
  wanted: z.enum(['settled', 'released']),
  state: z.enum(['settled', 'released', 'voided']),
});

export const PayoutReturnCredited = ledgerEvent('payout_return.credited', {
  payout_id: z.uuid(),
  end_to_end_id: z.string(),
  return_id: z.string(),
  amount: WireAmount,
});

export const PayoutSuspended = ledgerEvent('payout.suspended', {
  payout_id: z.uuid().nullable(),
  direction: z.enum(['in', 'out']),
  amount: WireAmount,
  reason: z.string(),
});

export const AcquirerTariffBooked = ledgerEvent('acquirer_tariff.booked', {
  end_to_end_id: z.string(),
  amount: WireAmount,
});

/** `amount` is what moved, which may be nothing. */
const DISPUTED = { dispute_id: z.uuid(), charge_id: z.uuid(), amount: WireCents };

export const DisputeBlocked = ledgerEvent('dispute.blocked', DISPUTED);
export const DisputeUnblocked = ledgerEvent('dispute.unblocked', DISPUTED);
export const DisputeReturned = ledgerEvent('dispute.returned', {
  ...DISPUTED,
  return_id: z.string(),
});

export const LEDGER_EVENTS = {
  'received_pix.credited': ReceivedPixCredited,
  'received_pix.suspended': ReceivedPixSuspended,
  'received_pix.returned': ReceivedPixReturned,
  'suspense.resolved': SuspenseResolved,
  'suspense.credited': SuspenseCredited,
  'hold.settled': HoldSettled,
  'hold.released': HoldReleased,
  'hold.end_refused': HoldEndRefused,
  'payout_return.credited': PayoutReturnCredited,
  'payout.suspended': PayoutSuspended,
  'acquirer_tariff.booked': AcquirerTariffBooked,
  'dispute.blocked': DisputeBlocked,
  'dispute.unblocked': DisputeUnblocked,
  'dispute.returned': DisputeReturned,
} as const;
