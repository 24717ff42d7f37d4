import type { ReceivedPix } from '@pixmesh/acquirer/client';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { ChargeRow } from '#charge/charge-row.ts';
import { pixSuspended } from '#events.ts';
import { failpoint } from '#failpoints.ts';

import type { Disposition } from './decide-received.ts';
import { receivedCommands, unownedCommands } from './received-commands.ts';
import { recordReceivedPix, recordUnownedPix } from './received-pix.sql.ts';

export type RecordReceivedDeps = { db: Database; logger: Logger; wakeOutbox(): void };

/**
 * Records what the acquirer received for a charge, once per Pix. From the record on a Pix that pays counts as paid in
 * progress; the charge is `paid` once the ledger has posted the credit (decision 208). Answers the charge after it;
 * null where it has moved since it was read, or the Pix is recorded already.
 */
export async function recordReceived(
  deps: RecordReceivedDeps,
  charge: ChargeRow,
  { pix, disposition }: { pix: ReceivedPix; disposition: Disposition },
): Promise<ChargeRow | null> {
  const commands = receivedCommands(charge, pix, disposition);
  await failpoint('charges.paid.after-readback');
  if (!(await recordReceivedPix(deps.db, { charge, pix, disposition, commands }))) return null;
  deps.wakeOutbox();
  await failpoint('charges.paid.after-commit');
  if (disposition.kind === 'suspense') {
    pixSuspended(deps.logger, { charge_id: charge.id, reason: disposition.reason });
  }
  const acceptedE2e = disposition.kind === 'credit' ? pix.endToEndId : charge.acceptedE2e;
  return { ...charge, acceptedE2e, version: charge.version + 1 };
}

/** Records a Pix that names no charge of ours, once: the platform keeps it for an operator (decision 217). */
export async function recordUnowned(deps: RecordReceivedDeps, pix: ReceivedPix): Promise<void> {
  await failpoint('charges.paid.after-readback');
  if (!(await recordUnownedPix(deps.db, pix, unownedCommands(pix)))) return;
  deps.wakeOutbox();
  await failpoint('charges.paid.after-commit');
  pixSuspended(deps.logger, { charge_id: null, reason: 'unowned' });
}
