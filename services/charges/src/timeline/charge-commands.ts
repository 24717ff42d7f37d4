import { releasePendingIdOf } from '@pixmesh/contracts/internal/ledger-command-ids';

import { disputeCommandId } from '#disputes/dispute-commands.ts';
import { bookingIdOf, tariffIdOf } from '#received/received-commands.ts';
import { releaseIdOf, settleIdOf } from '#refunds/hold-commands.ts';
import { medReturnIdOf, plainReturnIdOf } from '#returns/return-commands.ts';
import {
  handOverCreditIdOf,
  partCommandId,
  wholeItemCommandId,
} from '#suspense/suspense-commands.ts';

import type { ReturnSteps } from './charge-steps.sql.ts';

/** What money may have moved for. */
export type MoneyOfCharge = {
  /** End-to-end ids of its Pix. */
  received: readonly string[];
  returns: readonly ReturnSteps[];
  refunds: readonly { hold_id: string }[];
  disputes: readonly { id: string }[];
};

/**
 * Every command that may have moved money for a charge, whether it was sent or not: the ledger has a journal of those
 * that were. Derived by the functions that send them; a hold is booked under its own id.
 */
export function commandsOfCharge(money: MoneyOfCharge): string[] {
  return [
    ...money.received.flatMap(commandsOfPix),
    ...money.refunds.flatMap(({ hold_id: holdId }) => [
      holdId,
      settleIdOf({ holdId }),
      releaseIdOf({ holdId }),
    ]),
    ...money.disputes.flatMap((dispute) => [
      disputeCommandId('dispute.block', dispute),
      disputeCommandId('dispute.unblock', dispute),
    ]),
    ...money.returns.flatMap(({ end_to_end_id: pix, return_id: id }) => [
      plainReturnIdOf(pix, id),
      medReturnIdOf(pix, id),
      partCommandId(pix, id),
    ]),
  ];
}

/** Credited or suspended, the acquirer's price, made available, and taken out of suspense. */
function commandsOfPix(endToEndId: string): string[] {
  const bookingId = bookingIdOf(endToEndId);
  return [
    bookingId,
    tariffIdOf(endToEndId),
    releasePendingIdOf(bookingId),
    wholeItemCommandId(bookingId),
    handOverCreditIdOf(bookingId),
  ];
}
