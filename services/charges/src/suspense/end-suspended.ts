import type { PixReturn } from '@pixmesh/acquirer/client';
import { failpoint } from '@pixmesh/http/failpoints';
import type { Database, Transaction } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { returnUnbooked } from '#events.ts';
import type { UnbookedReason } from '#returns/decide-return.ts';
import { insertPixReturn } from '#returns/pix-returns.sql.ts';

import { insertResolution, lockResolution, orderReturn } from './resolutions.sql.ts';
import { returnCommand } from './suspense-commands.ts';
import type { SuspenseItem } from './suspense-item.ts';

export type EndSuspendedDeps = { db: Database; logger: Logger; kickOutbox(): void };

/**
 * A Pix in suspense went back to its payer, by our order or without one: its item ends, once. Money that was given to
 * its owner before cannot be taken from there: the return is kept unbooked, and an operator is told.
 */
export async function endSuspended(
  deps: EndSuspendedDeps,
  item: SuspenseItem,
  returned: PixReturn,
): Promise<void> {
  await failpoint('charges.return.before-commit');
  const end = await deps.db.transaction(async (tx) => await endOnce(tx, item, returned));
  if (end === 'known') return;
  if (end === 'accepted_before') {
    const where = { charge_id: item.chargeId, end_to_end_id: item.endToEndId };
    return returnUnbooked(deps.logger, { ...where, reason: end });
  }
  deps.kickOutbox();
  await failpoint('charges.return.after-commit');
}

async function endOnce(
  tx: Transaction,
  item: SuspenseItem,
  returned: PixReturn,
): Promise<'ended' | 'known' | 'accepted_before'> {
  const command = returnCommand(item);
  const stored = await insertResolution(tx, {
    item,
    action: 'return',
    accountId: null,
    requestedBy: null,
    commands: [command],
    isToLookAt: false,
  });
  const standing = stored ? null : await lockResolution(tx, item.id);
  const isAccepted = stored === null && standing?.action !== 'return';
  const disposition = isAccepted ? 'unbooked' : 'suspense';
  const isNew = await insertPixReturn(tx, toRecord(item, { returned, disposition }));
  if (isAccepted) return isNew ? 'accepted_before' : 'known';
  if (standing !== null) await orderReturn(tx, standing, command);
  return isNew ? 'ended' : 'known';
}

/** Keeps a return that cannot be booked, once, and tells an operator. */
export async function keepUnbooked(
  deps: EndSuspendedDeps,
  pix: Pick<SuspenseItem, 'endToEndId' | 'chargeId'>,
  { returned, reason }: { returned: PixReturn; reason: UnbookedReason },
): Promise<void> {
  const record = toRecord(pix, { returned, disposition: 'unbooked' });
  if (!(await insertPixReturn(deps.db, record))) return;
  const { chargeId: charge_id, endToEndId: end_to_end_id } = pix;
  returnUnbooked(deps.logger, { charge_id, end_to_end_id, reason });
}

function toRecord(
  pix: Pick<SuspenseItem, 'endToEndId' | 'chargeId'>,
  { returned, disposition }: { returned: PixReturn; disposition: 'suspense' | 'unbooked' },
) {
  return {
    endToEndId: pix.endToEndId,
    chargeId: pix.chargeId,
    returnId: returned.id,
    amount: returned.amountCents,
    nature: returned.nature,
    refundId: null,
    disposition,
  } as const;
}
