import type { ReceivedPix } from '@pixmesh/acquirer/client';
import {
  CreditReceivedPix,
  SuspendReceivedPix,
} from '@pixmesh/contracts/messages/ledger-command.v1';
import { deriveCommandId, newId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import type { ChargeRow } from '#charges/charge-row.ts';

import type { Disposition } from './decide-received.ts';

/**
 * The ledger command of a received Pix. Its id comes from the end-to-end id alone, whatever the disposition:
 * the ledger books each Pix once, for ever.
 */
export function ledgerCommand(
  charge: ChargeRow,
  pix: ReceivedPix,
  disposition: Disposition,
): OutboundEvent {
  const place = { key: charge.accountId, sequence: null };
  const envelope = {
    event_id: newId(),
    version: 1 as const,
    occurred_at: new Date().toISOString(),
    account_id: charge.accountId,
    application_id: charge.applicationId,
  };
  const data = {
    command_id: deriveCommandId('received_pix', pix.endToEndId),
    end_to_end_id: pix.endToEndId,
    charge_id: charge.id,
    amount: pix.amountCents,
  };
  return disposition.kind === 'credit'
    ? outboundEvent(CreditReceivedPix, place, {
        ...envelope,
        type: 'received_pix.credit',
        data: { ...data, release_at: releaseAt(charge, pix) },
      })
    : outboundEvent(SuspendReceivedPix, place, {
        ...envelope,
        type: 'received_pix.suspend',
        data: { ...data, reason: disposition.reason },
      });
}

/** When the money becomes available; null: at once (decision 133). */
function releaseAt(charge: ChargeRow, pix: ReceivedPix): string | null {
  if (charge.releaseDelaySeconds === 0) return null;
  return new Date(pix.paidAt.getTime() + charge.releaseDelaySeconds * 1000).toISOString();
}
