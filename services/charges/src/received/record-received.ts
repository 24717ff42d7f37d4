import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import type { OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { appendEventsAndCommands } from '@pixmesh/postgres/unanswered-commands';
import type { Logger } from '@pixmesh/telemetry/logger';
import { counter } from '@pixmesh/telemetry/metrics';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import type { ChargeRow } from '#charge/charge-row.ts';
import { failpoint } from '#failpoints.ts';

import { unownedCommands } from './received-commands.ts';
import type { ChargeReceipts, ReceivedRecord } from './receipts.sql.ts';

type RecordUnownedDeps = { db: Queryable; logger: Logger; wakeOutbox(): void };
export type RecordReceivedDeps = RecordUnownedDeps & { receipts: ChargeReceipts };

/**
 * Records what the acquirer received for a charge, once per Pix. From the record on a Pix that pays counts as paid in
 * progress; the charge is `paid` once the ledger has posted the credit (decision 208). Answers the charge after it;
 * null where it has moved since it was read, or the Pix is recorded already.
 */
export async function recordReceived(
  deps: RecordReceivedDeps,
  charge: ChargeRow,
  record: ReceivedRecord,
): Promise<ChargeRow | null> {
  const { pix, disposition } = record;
  await failpoint('charges.paid.after-readback');
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
  await failpoint('charges.paid.after-readback');
  if (!(await insertUnowned(deps.db, pix, unownedCommands(pix)))) return;
  deps.wakeOutbox();
  await failpoint('charges.paid.after-commit');
  reportSuspended(deps.logger, null, 'unowned');
}

/**
 * Inserts a Pix without an owner once per end-to-end id, together with its ledger commands. False when it is recorded
 * already, whoever owns it: nothing is written then.
 */
async function insertUnowned(
  db: Queryable,
  pix: ReceivedPix,
  commands: readonly OutboundEvent[],
): Promise<boolean> {
  const rows = await db.query(
    named(
      'record_unowned_pix',
      sql`
        with recorded as (
          insert into received_pix (end_to_end_id, amount, paid_at, disposition, reason)
          values (${pix.endToEndId}, ${pix.amountCents}, ${pix.paidAt}, 'suspense', 'unowned')
          on conflict (end_to_end_id) do nothing
          returning end_to_end_id
        ),
        ${appendEventsAndCommands(sql`select from recorded`, commands)}
        select end_to_end_id from recorded`,
    ),
  );
  return rows.length === 1;
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
