import type { ReceivedPix } from '@pixmesh/acquirer/client';
import { failpoint } from '@pixmesh/http/failpoints';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { ChargeRow } from '#charges/charge-row.ts';
import { findAnyCharge } from '#charges/charges.sql.ts';

import { decideReceived } from './decide-received.ts';
import { ledgerCommand } from './ledger-command.ts';
import { findRecorded, recordReceivedPix } from './received-pix.sql.ts';

type RecordReceivedDeps = { db: Database; logger: Logger; kickOutbox(): void };

/**
 * Records what the acquirer received for a charge, each Pix once, in the order of settlement. From the record
 * on the charge counts as paid in progress; it is `paid` once the ledger has posted the credit (decision 208).
 * Repeating it writes nothing.
 */
export async function recordReceived(
  deps: RecordReceivedDeps,
  charge: ChargeRow,
  received: readonly ReceivedPix[],
): Promise<void> {
  if (received.length === 0) return;
  const recorded = await findRecorded(
    deps.db,
    received.map((pix) => pix.endToEndId),
  );
  const fresh = received
    .filter((pix) => !recorded.has(pix.endToEndId))
    .sort((a, b) => a.paidAt.getTime() - b.paidAt.getTime());
  let current: ChargeRow | null = charge;
  for (const pix of fresh) {
    if (current === null) return;
    await recordOne(deps, current, pix);
    current = await findAnyCharge(deps.db, charge.id);
  }
}

async function recordOne(
  deps: RecordReceivedDeps,
  charge: ChargeRow,
  pix: ReceivedPix,
): Promise<void> {
  const disposition = decideReceived(charge, pix);
  const command = ledgerCommand(charge, pix, disposition);
  await failpoint('charges.paid.after-readback');
  if (!(await recordReceivedPix(deps.db, { charge, pix, disposition, command }))) return;
  deps.kickOutbox();
  await failpoint('charges.paid.after-commit');
  if (disposition.kind === 'suspense') {
    const { reason } = disposition;
    deps.logger.error({ charge_id: charge.id, reason }, 'a received Pix went to suspense');
  }
}
