import { deriveCommandId } from '@pixmesh/kernel/ids';
import type { OutboundEvent } from '@pixmesh/postgres/events';

import type { ChargeRow } from '#charge/charge-row.ts';
import { ledgerCommand } from '#charge/ledger-command.ts';

import type { DisputeRow } from './dispute-row.ts';

/**
 * Takes the disputed money out of the balance (`dispute.block`), or returns what is left of the block
 * (`dispute.unblock`); each once per dispute (decisions 136, 137).
 */
export function disputeCommand(
  type: 'dispute.block' | 'dispute.unblock',
  charge: ChargeRow,
  dispute: DisputeRow,
): OutboundEvent {
  return ledgerCommand(type, charge, {
    command_id: disputeCommandId(type, dispute),
    dispute_id: dispute.id,
    charge_id: dispute.chargeId,
    end_to_end_id: dispute.endToEndId,
    amount: dispute.amount,
  });
}

/** The one command of this type for a dispute. */
export function disputeCommandId(
  type: 'dispute.block' | 'dispute.unblock',
  { id }: { id: string },
): string {
  return deriveCommandId(type, id);
}
