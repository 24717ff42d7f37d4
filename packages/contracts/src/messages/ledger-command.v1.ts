import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';
import { TOPICS } from '../topics.ts';
import { WireAmount } from '../wire-cents.ts';
import { messageEnvelope } from './message-envelope.ts';
import { defineMessage } from './message-type.ts';

const EndToEndId = z.string().min(1).max(64);

/**
 * A command of the ledger. `account_id` of the envelope is the owner of the money, null the platform.
 * `command_id` is derived from the command's kind and business key, and unique in the ledger for ever.
 */
function ledgerCommand<Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) {
  return defineMessage({
    topic: TOPICS.ledgerCommands,
    type,
    schema: messageEnvelope(z.literal<Type>(type), z.object({ command_id: z.uuid(), ...shape })),
  });
}

/**
 * What every command of one received Pix says. `command_id` is derived from the end-to-end id alone, so the
 * credit and the suspense of one Pix share it: the ledger books exactly one of them, for ever.
 */
const RECEIVED_PIX = {
  end_to_end_id: EndToEndId,
  /** The charge, or null for money that names none. */
  charge_id: z.uuid().nullable(),
  amount: WireAmount,
};

/** Credits a received Pix to its account: at once, or pending until `release_at` (decision 133). */
export const ReceivedPixCredit = ledgerCommand('received_pix.credit', {
  ...RECEIVED_PIX,
  release_at: Timestamp.nullable(),
});

/** Books a received Pix that no charge accepts to suspense, for an operator to decide (decision 141). */
export const ReceivedPixSuspend = ledgerCommand('received_pix.suspend', {
  ...RECEIVED_PIX,
  reason: z.enum(['amount_mismatch', 'second_pix', 'late', 'charge_closed', 'unowned']),
});

/**
 * Money of a credited Pix that went back to its payer without an order of ours (nature `ORIGINAL`): once per
 * (end-to-end id, return id). From what is left of a block first, then from the balance, even below zero: it has left.
 */
export const ReceivedPixReturn = ledgerCommand('received_pix.return', {
  charge_id: z.uuid(),
  end_to_end_id: EndToEndId,
  /** The acquirer's id of the return. */
  return_id: z.string().min(1).max(64),
  amount: WireAmount,
});

const SUSPENSE_ITEM = {
  /** The item: the `command_id` that booked it. */
  item_id: z.uuid(),
  /** Null for an item of a payout for which the acquirer never named one. */
  end_to_end_id: EndToEndId.nullable(),
  charge_id: z.uuid().nullable(),
  /** The payout of an item that payouts booked; absent in what charges sends. */
  payout_id: z.uuid().nullish(),
  amount: WireAmount,
};

/**
 * Ends an item of suspense, once for ever (decision 141). `accept` gives it to its owner; `hand_over` takes it out of
 * the platform's account for the owner that `suspense.credit` names; `return`: the acquirer has sent it back. A
 * `return` of less than is left takes that part out of the item, which stays open; the other two are for all that is
 * left.
 */
export const SuspenseResolve = ledgerCommand('suspense.resolve', {
  ...SUSPENSE_ITEM,
  action: z.enum(['accept', 'hand_over', 'return']),
});

/** Gives money that nobody owned to the account of the envelope, after its `hand_over`. */
const SuspenseCredit = ledgerCommand('suspense.credit', SUSPENSE_ITEM);

/** Ends of a hold have different ids, so that the loser of a race is answered what became of the hold. */
const HOLD_END = {
  hold_id: z.uuid(),
  /** The payout or refund the hold is for. */
  resource_id: z.uuid(),
};

/** The money of a hold has left: the amount to the recipient, the fee to the platform. */
export const HoldSettle = ledgerCommand('hold.settle', {
  ...HOLD_END,
  end_to_end_id: EndToEndId.nullable(),
});

/** The money of a hold returns to its owner, amount and fee (decision 113). */
export const HoldRelease = ledgerCommand('hold.release', HOLD_END);

/** The recipient's institution sent money of a completed payout back: once per (end-to-end id, `rtrId`). */
export const PayoutReturnCredit = ledgerCommand('payout_return.credit', {
  payout_id: z.uuid(),
  end_to_end_id: EndToEndId,
  return_id: z.string().min(1).max(64),
  amount: WireAmount,
});

/**
 * Books what the acquirer did against the end of a payout (decision 120): `out` for money that left although
 * the payout had failed or does not exist, `in` for money that stayed although it had completed.
 */
export const PayoutSuspend = ledgerCommand('payout.suspend', {
  payout_id: z.uuid().nullable(),
  end_to_end_id: EndToEndId.nullable(),
  direction: z.enum(['in', 'out']),
  amount: WireAmount,
  reason: z.enum(['completed_after_failed', 'failed_after_completed', 'foreign_send']),
});

/** The acquirer's price for a movement, borne by the platform (decision 139). */
const AcquirerTariffBook = ledgerCommand('acquirer_tariff.book', {
  end_to_end_id: EndToEndId,
  amount: WireAmount,
});

const DISPUTED = {
  dispute_id: z.uuid(),
  charge_id: z.uuid(),
  end_to_end_id: EndToEndId,
  amount: WireAmount,
};

/**
 * Takes the disputed amount out of the balance, even below zero (decisions 136, 137): as much of it as refunds and
 * returns have left of the Pix.
 */
const DisputeBlock = ledgerCommand('dispute.block', DISPUTED);

/** Gives what is left of a block back, at most `amount`; nothing left moves nothing. */
const DisputeUnblock = ledgerCommand('dispute.unblock', DISPUTED);

/**
 * Money that the acquirer returned under the MED (decision 138): once per (end-to-end id, return id). `blocked`: from
 * what is left of the block, and the rest from the balance; `available`: no block stands any more.
 */
const DisputeReturn = ledgerCommand('dispute.return', {
  ...DISPUTED,
  from: z.enum(['blocked', 'available']),
  /** The acquirer's id of the return. */
  return_id: z.string().min(1).max(64),
});

/** What charges sends. */
export const CHARGE_COMMANDS = {
  'received_pix.credit': ReceivedPixCredit,
  'received_pix.suspend': ReceivedPixSuspend,
  'received_pix.return': ReceivedPixReturn,
  'suspense.resolve': SuspenseResolve,
  'suspense.credit': SuspenseCredit,
  'hold.settle': HoldSettle,
  'hold.release': HoldRelease,
  'acquirer_tariff.book': AcquirerTariffBook,
  'dispute.block': DisputeBlock,
  'dispute.unblock': DisputeUnblock,
  'dispute.return': DisputeReturn,
} as const;

/** What payouts sends. */
export const PAYOUT_COMMANDS = {
  'hold.settle': HoldSettle,
  'hold.release': HoldRelease,
  'payout_return.credit': PayoutReturnCredit,
  'payout.suspend': PayoutSuspend,
  'suspense.resolve': SuspenseResolve,
} as const;

/** Every command that the ledger takes from its topic. */
export const LEDGER_COMMANDS = {
  ...CHARGE_COMMANDS,
  ...PAYOUT_COMMANDS,
} as const;
