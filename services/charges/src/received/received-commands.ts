import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import {
  acquirerTariffCommandId,
  receivedPixCommandId,
} from '@pixmesh/contracts/internal/ledger-command-ids';
import type { OutboundEvent } from '@pixmesh/postgres/events';

import type { ChargeRow } from '#charge/charge-row.ts';
import { ledgerCommand } from '#charge/ledger-command.ts';

import type { Disposition } from './decide-received.ts';

/**
 * The ledger commands of a Pix received for a charge: its booking, and the acquirer's tariff where one is named. Ids
 * come from the end-to-end id alone, whatever the disposition: the ledger books each Pix once, for ever.
 */
export function receivedCommands(
  charge: ChargeRow,
  pix: ReceivedPix,
  disposition: Disposition,
): OutboundEvent[] {
  const data = { ...dataOf(pix), charge_id: charge.id };
  const release_at = releaseAt(charge.releaseDelaySeconds, pix);
  const booking =
    disposition.kind === 'credit'
      ? ledgerCommand('received_pix.credit', charge, { ...data, release_at })
      : ledgerCommand('received_pix.suspend', charge, { ...data, reason: disposition.reason });
  return [booking, ...acquirerTariffBook(pix)];
}

/** Those of a Pix without an owner: it stands in suspense on the platform's own account (decision 217). */
export function unownedCommands(pix: ReceivedPix): OutboundEvent[] {
  const data = { ...dataOf(pix), charge_id: null, reason: 'unowned' } as const;
  return [
    ledgerCommand('received_pix.suspend', { accountId: null }, data),
    ...acquirerTariffBook(pix),
  ];
}

function dataOf({ endToEndId, amountCents }: ReceivedPix) {
  return {
    command_id: receivedPixCommandId(endToEndId),
    end_to_end_id: endToEndId,
    amount: amountCents,
  };
}

/** Borne by the platform, whoever the Pix is for (decision 139). */
function acquirerTariffBook({ endToEndId, tariffCents }: ReceivedPix): OutboundEvent[] {
  if (tariffCents === null || tariffCents === 0n) return [];
  const command = ledgerCommand(
    'acquirer_tariff.book',
    { accountId: null },
    {
      command_id: acquirerTariffCommandId(endToEndId),
      end_to_end_id: endToEndId,
      amount: tariffCents,
    },
  );
  return [command];
}

/** When the money becomes available; null: at once (decision 133). */
function releaseAt(delaySeconds: number, { paidAt }: ReceivedPix): string | null {
  if (delaySeconds === 0) return null;
  return new Date(paidAt.getTime() + delaySeconds * 1000).toISOString();
}
