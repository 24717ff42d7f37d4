import type { PixReturn } from '@pixmesh/acquirer/acquirer';
import { deriveCommandId } from '@pixmesh/kernel/ids';
import type { OutboundEvent } from '@pixmesh/postgres/events';

import type { ChargeRow } from '#charge/charge-row.ts';
import { ledgerCommand } from '#charge/ledger-command.ts';

/** A return of a credited Pix that no refund of ours explains; `med`: under the MED. */
type Returned = { as: 'returned' | 'med'; endToEndId: string; returned: PixReturn };

/**
 * Money that went back without an order of ours: from the balance (`received_pix.return`), or under the MED from the
 * block first (`dispute.return`, decision 138). One command per return, for ever.
 *
 * @param disputeId of the return's dispute, which may not be recorded yet; the block of another is left alone
 */
export function returnCommand(
  charge: ChargeRow,
  { as, endToEndId, returned }: Returned,
  disputeId: string | null,
): OutboundEvent {
  const data = {
    charge_id: charge.id,
    end_to_end_id: endToEndId,
    return_id: returned.id,
    amount: returned.amountCents,
  };
  return as === 'returned'
    ? ledgerCommand('received_pix.return', charge, {
        ...data,
        command_id: receivedPixReturnCommandId(endToEndId, returned.id),
      })
    : ledgerCommand('dispute.return', charge, {
        ...data,
        command_id: disputeReturnCommandId(endToEndId, returned.id),
        dispute_id: disputeId ?? unseenDisputeId(endToEndId),
        from: 'blocked',
      });
}

export function receivedPixReturnCommandId(endToEndId: string, returnId: string): string {
  return deriveCommandId('received_pix.return', `${endToEndId}/${returnId}`);
}

export function disputeReturnCommandId(endToEndId: string, returnId: string): string {
  return deriveCommandId('dispute.return', `${endToEndId}/${returnId}`);
}

/** Stands in for the id of a dispute that is not recorded yet. */
export function unseenDisputeId(endToEndId: string): string {
  return deriveCommandId('dispute', endToEndId);
}
