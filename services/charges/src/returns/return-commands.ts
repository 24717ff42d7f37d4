import { ReceivedPixReturn, DisputeReturn } from '@pixmesh/contracts/messages/ledger-command.v1';
import type { PixReturn } from '@pixmesh/acquirer/client';
import { deriveCommandId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import type { ChargeRow } from '#charge/charge-row.ts';
import { ledgerOrder } from '#charge/ledger-command.ts';

type Seen = { endToEndId: string; returned: PixReturn };

/** Money that went back without an order of ours. One command per return, for ever. */
export function plainReturnCommand(charge: ChargeRow, seen: Seen): OutboundEvent {
  const { place, envelope } = ledgerOrder(charge);
  return outboundEvent(ReceivedPixReturn, place, {
    ...envelope,
    type: 'received_pix.return',
    data: {
      command_id: plainReturnIdOf(seen.endToEndId, seen.returned.id),
      ...dataOf(charge, seen),
    },
  });
}

/** Money that went back under the MED: from the block first (decision 138). One command per return, for ever. */
export function medReturnCommand(
  charge: ChargeRow,
  seen: Seen & { disputeId: string },
): OutboundEvent {
  const { place, envelope } = ledgerOrder(charge);
  return outboundEvent(DisputeReturn, place, {
    ...envelope,
    type: 'dispute.return',
    data: {
      command_id: medReturnIdOf(seen.endToEndId, seen.returned.id),
      dispute_id: seen.disputeId,
      ...dataOf(charge, seen),
      from: 'blocked',
    },
  });
}

function dataOf(charge: ChargeRow, { endToEndId, returned }: Seen) {
  return {
    charge_id: charge.id,
    end_to_end_id: endToEndId,
    return_id: returned.id,
    amount: returned.amountCents,
  };
}

/** The one command of a return that was not ordered by us. */
export function plainReturnIdOf(endToEndId: string, returnId: string): string {
  return deriveCommandId('received_pix.return', `${endToEndId}/${returnId}`);
}

/** The one command of a return under the MED. */
export function medReturnIdOf(endToEndId: string, returnId: string): string {
  return deriveCommandId('dispute.return', `${endToEndId}/${returnId}`);
}
