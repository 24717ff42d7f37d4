import { DisputeBlock, DisputeUnblock } from '@pixmesh/contracts/messages/ledger-command.v1';
import { deriveCommandId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import type { ChargeRow } from '#charge/charge-row.ts';
import { ledgerOrder } from '#charge/ledger-command.ts';

import type { DisputeRow } from './dispute-row.ts';

/** Takes the disputed money out of the balance, once per dispute (decisions 136, 137). */
export function orderBlock(charge: ChargeRow, dispute: DisputeRow): OutboundEvent {
  const { place, envelope } = ledgerOrder(charge);
  const type = 'dispute.block' as const;
  return outboundEvent(DisputeBlock, place, { ...envelope, type, data: disputed(type, dispute) });
}

/** Gives what is left of the block back, once per dispute. */
export function orderUnblock(charge: ChargeRow, dispute: DisputeRow): OutboundEvent {
  const { place, envelope } = ledgerOrder(charge);
  const type = 'dispute.unblock' as const;
  return outboundEvent(DisputeUnblock, place, {
    ...envelope,
    type,
    data: disputed(type, dispute),
  });
}

/** The one command of this kind for a dispute. */
export function disputeCommandId(
  kind: 'dispute.block' | 'dispute.unblock',
  { id }: { id: string },
): string {
  return deriveCommandId(kind, id);
}

function disputed(kind: Parameters<typeof disputeCommandId>[0], dispute: DisputeRow) {
  return {
    command_id: disputeCommandId(kind, dispute),
    dispute_id: dispute.id,
    charge_id: dispute.chargeId,
    end_to_end_id: dispute.endToEndId,
    amount: dispute.amount,
  };
}
