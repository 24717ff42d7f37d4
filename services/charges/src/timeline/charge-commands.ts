import {
  acquirerTariffCommandId,
  holdReleaseCommandId,
  holdSettleCommandId,
  receivedPixCommandId,
  releasePendingIdOf,
  suspenseResolveCommandId,
} from '@pixmesh/contracts/internal/ledger-command-ids';

import { disputeCommandId } from '#disputes/dispute-commands.ts';
import { disputeReturnCommandId, receivedPixReturnCommandId } from '#returns/return-commands.ts';
import { suspenseCreditCommandId, suspensePartCommandId } from '#suspense/suspense-commands.ts';

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
export function commandIdsOfCharge(money: MoneyOfCharge): string[] {
  return [
    ...money.received.flatMap(commandIdsOfPix),
    ...money.refunds.flatMap(({ hold_id: holdId }) => [
      holdId,
      holdSettleCommandId({ holdId }),
      holdReleaseCommandId({ holdId }),
    ]),
    ...money.disputes.flatMap((dispute) => [
      disputeCommandId('dispute.block', dispute),
      disputeCommandId('dispute.unblock', dispute),
    ]),
    ...money.returns.flatMap(({ end_to_end_id: pix, return_id: id }) => [
      receivedPixReturnCommandId(pix, id),
      disputeReturnCommandId(pix, id),
      suspensePartCommandId(pix, id),
    ]),
  ];
}

/** Credited or suspended, the acquirer's price, made available, and taken out of suspense. */
function commandIdsOfPix(endToEndId: string): string[] {
  const bookingId = receivedPixCommandId(endToEndId);
  return [
    bookingId,
    acquirerTariffCommandId(endToEndId),
    releasePendingIdOf(bookingId),
    suspenseResolveCommandId(bookingId),
    suspenseCreditCommandId(bookingId),
  ];
}
