import type { ReceivedPix } from '@pixmesh/acquirer/client';
import {
  AcquirerTariffBook,
  ReceivedPixCredit,
  ReceivedPixSuspend,
} from '@pixmesh/contracts/messages/ledger-command.v1';
import { deriveCommandId } from '@pixmesh/kernel/ids';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';

import type { ChargeRow } from '#charge/charge-row.ts';
import { ledgerOrder } from '#charge/ledger-command.ts';

import type { Disposition } from './decide-received.ts';

/** The one command that books a received Pix, whether it credits or suspends it; the id of its item in suspense. */
export function bookingIdOf(endToEndId: string): string {
  return deriveCommandId('received_pix', endToEndId);
}

/** The one command that books the acquirer's price of a received Pix. */
export function tariffIdOf(endToEndId: string): string {
  return deriveCommandId('acquirer_tariff.book', endToEndId);
}

/**
 * The ledger commands of a Pix received for a charge: its booking, and the acquirer's price for it where that is told.
 * Ids come from the end-to-end id alone, whatever the disposition: the ledger books each Pix once, for ever.
 */
export function receivedCommands(
  charge: ChargeRow,
  pix: ReceivedPix,
  disposition: Disposition,
): OutboundEvent[] {
  const { place, envelope } = ledgerOrder(charge);
  const data = dataOf(pix, charge.id);
  const booking =
    disposition.kind === 'credit'
      ? outboundEvent(ReceivedPixCredit, place, {
          ...envelope,
          type: 'received_pix.credit',
          data: { ...data, release_at: releaseAt(charge, pix) },
        })
      : outboundEvent(ReceivedPixSuspend, place, {
          ...envelope,
          type: 'received_pix.suspend',
          data: { ...data, reason: disposition.reason },
        });
  return [booking, ...tariffCommands(pix)];
}

/** Those of a Pix that nobody owns: it stands in suspense on the platform's own account (decision 217). */
export function unownedCommands(pix: ReceivedPix): OutboundEvent[] {
  const { place, envelope } = ledgerOrder({ accountId: null });
  const booking = outboundEvent(ReceivedPixSuspend, place, {
    ...envelope,
    type: 'received_pix.suspend',
    data: { ...dataOf(pix, null), reason: 'unowned' },
  });
  return [booking, ...tariffCommands(pix)];
}

function dataOf(pix: ReceivedPix, chargeId: string | null) {
  return {
    command_id: bookingIdOf(pix.endToEndId),
    end_to_end_id: pix.endToEndId,
    charge_id: chargeId,
    amount: pix.amountCents,
  };
}

/** Borne by the platform, whoever the Pix is for (decision 139). */
function tariffCommands({ endToEndId, tariffCents }: ReceivedPix): OutboundEvent[] {
  if (tariffCents === null || tariffCents === 0n) return [];
  const { place, envelope } = ledgerOrder({ accountId: null });
  const tariff = outboundEvent(AcquirerTariffBook, place, {
    ...envelope,
    type: 'acquirer_tariff.book',
    data: {
      command_id: tariffIdOf(endToEndId),
      end_to_end_id: endToEndId,
      amount: tariffCents,
    },
  });
  return [tariff];
}

/** When the money becomes available; null: at once (decision 133). */
function releaseAt(charge: ChargeRow, pix: ReceivedPix): string | null {
  if (charge.releaseDelaySeconds === 0) return null;
  return new Date(pix.paidAt.getTime() + charge.releaseDelaySeconds * 1000).toISOString();
}
