import type { PixReturn } from '@pixmesh/acquirer/acquirer';
import { deriveCommandId } from '@pixmesh/kernel/ids';
import type { OutboundEvent } from '@pixmesh/postgres/events';

import type { ChargeRow } from '#charge/charge-row.ts';
import { ledgerCommand } from '#charge/ledger-command.ts';

/** A return of a credited Pix, as the acquirer shows it. */
type Returned = { endToEndId: string; returned: PixReturn };

/** Money that went back without an order of ours. One command per return, for ever. */
export function receivedPixReturn(charge: ChargeRow, seen: Returned): OutboundEvent {
  return ledgerCommand('received_pix.return', charge, {
    ...dataOf(charge, seen),
    command_id: receivedPixReturnCommandId(seen.endToEndId, seen.returned.id),
  });
}

/** Money that went back under the MED: from the block first (decision 138). One command per return, for ever. */
export function disputeReturn(
  charge: ChargeRow,
  seen: Returned,
  disputeId: string | null,
): OutboundEvent {
  return ledgerCommand('dispute.return', charge, {
    ...dataOf(charge, seen),
    command_id: disputeReturnCommandId(seen.endToEndId, seen.returned.id),
    // A return may be seen before the dispute that led to it; the ledger keeps its blocks by Pix.
    dispute_id: disputeId ?? unseenDisputeId(seen.endToEndId),
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

function dataOf(charge: ChargeRow, { endToEndId, returned }: Returned) {
  return {
    charge_id: charge.id,
    end_to_end_id: endToEndId,
    return_id: returned.id,
    amount: returned.amountCents,
  };
}
