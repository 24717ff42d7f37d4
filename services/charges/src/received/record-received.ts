import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import { counter } from '@pixmesh/telemetry/metrics';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import type { ChargeRow } from '#charge/charge-row.ts';
import { failpoint } from '#failpoints.ts';

import { unownedCommands } from './received-commands.ts';
import { insertUnowned } from './received-pix.sql.ts';
import type { ChargeReceipts, ReceivedRecord } from './receipts.sql.ts';

type RecordUnownedDeps = { db: Queryable; logger: Logger; wakeOutbox(): void };
export type RecordReceivedDeps = RecordUnownedDeps & { receipts: ChargeReceipts };

/**
 * Records what the acquirer received for a charge, once per Pix. From the record on a Pix that pays counts as paid in
 * progress; the charge is `paid` once the ledger has posted the credit (decision 208). Returns the charge after it;
 * null where it has moved since it was read, or the Pix is recorded already.
 */
export async function recordReceived(
  deps: RecordReceivedDeps,
  charge: ChargeRow,
  record: ReceivedRecord,
): Promise<ChargeRow | null> {
  const { pix, disposition } = record;
  await failpoint('charges.paid.before-record');
  const traceparent = currentTraceParent();
  if (!(await deps.receipts.submit({ ...record, charge, traceparent }))) return null;
  deps.wakeOutbox();
  await failpoint('charges.paid.after-commit');
  if (disposition.kind === 'suspense') reportSuspended(deps.logger, charge.id, disposition.reason);
  const acceptedE2e = disposition.kind === 'credit' ? pix.endToEndId : charge.acceptedE2e;
  return { ...charge, acceptedE2e, version: charge.version + 1 };
}

/** Records a Pix that names no charge of ours, once: the platform keeps it for an operator (decision 217). */
export async function recordUnowned(deps: RecordUnownedDeps, pix: ReceivedPix): Promise<void> {
  await failpoint('charges.paid.before-record');
  if (!(await insertUnowned(deps.db, pix, unownedCommands(pix)))) return;
  deps.wakeOutbox();
  await failpoint('charges.paid.after-commit');
  reportSuspended(deps.logger, null, 'unowned');
}

const suspensions = counter(
  'charges_suspended_total',
  'Received Pix that went to suspense, by reason',
  [],
);

/** An operator has to accept it or send it back (decision 141). */
function reportSuspended(logger: Logger, chargeId: string | null, reason: string): void {
  suspensions.add(1, { reason });
  logger.error({ charge_id: chargeId, reason }, 'received Pix went to suspense');
}
