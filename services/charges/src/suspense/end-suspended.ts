import type { PixReturn } from '@pixmesh/acquirer/acquirer';
import type { Database, Transaction } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import { counter } from '@pixmesh/telemetry/metrics';

import { failpoint } from '#failpoints.ts';
import type { UnbookedReason } from '#returns/decide-return.ts';
import { insertPixReturn, type RecordedReturn } from '#returns/pix-returns.sql.ts';

import { type LockedItem, lockItem } from './lock-item.sql.ts';
import {
  insertResolution,
  lockResolution,
  orderReturn,
  type Resolution,
} from './resolutions.sql.ts';
import { itemReturnCommand } from './suspense-commands.ts';
import type { SuspenseItem } from './suspense-item.ts';

export type EndSuspendedDeps = { db: Database; logger: Logger; wakeOutbox(): void };

type Pix = Pick<SuspenseItem, 'endToEndId' | 'chargeId'>;

/**
 * Money of a Pix in suspense went back to its payer, by our order or without one. Each return is booked once: a part
 * leaves its item open for what is left, and whatever returns the last cent ends it. Money that was given to its owner
 * before cannot be taken from there, nor more than there is: such a return is recorded unbooked and reported.
 */
export async function endSuspended(
  deps: EndSuspendedDeps,
  pix: Pix,
  returned: PixReturn,
): Promise<void> {
  await failpoint('charges.return.before-commit');
  const end = await deps.db.transaction(async (tx) => await bookOnce(tx, pix, returned));
  if (end === 'booked_before') return;
  if (end !== 'booked') return reportUnbooked(deps.logger, pix, end);
  deps.wakeOutbox();
  await failpoint('charges.return.after-commit');
}

async function bookOnce(
  tx: Transaction,
  pix: Pix,
  returned: PixReturn,
): Promise<'booked' | 'booked_before' | UnbookedReason> {
  const locked = await lockItem(tx, pix.endToEndId);
  if (locked === null) throw new Error('a return of a Pix that does not stand in suspense');
  if (locked.returnIds.has(returned.id)) return 'booked_before';
  const existing = await lockResolution(tx, locked.item.id);
  const isAccepted = existing?.action === 'accept';
  if (isAccepted || returned.amountCents > locked.left) {
    await insertPixReturn(tx, toRecord(pix, { returned, disposition: 'unbooked' }));
    return isAccepted ? 'accepted_before' : 'exceeds_received';
  }
  await bookLocked(tx, locked, { returned, existing });
  return 'booked';
}

async function bookLocked(
  tx: Transaction,
  locked: LockedItem,
  { returned, existing }: { returned: PixReturn; existing: Resolution | null },
): Promise<void> {
  const end = itemReturnCommand(locked, returned);
  const disposition = end.isPart ? 'suspense_part' : 'suspense';
  const record = toRecord(locked.item, { returned, disposition });
  const { amountCents: amount } = returned;
  if (amount < locked.left) {
    await insertPixReturn(tx, record, end.commands);
    return;
  }
  await insertPixReturn(tx, record);
  if (existing !== null) return await orderReturn(tx, existing, { amount, end });
  const how = { action: 'return', accountId: null, requestedBy: null } as const;
  const stored = await insertResolution(tx, { item: locked.item, amount, end, ...how });
  if (stored === null) throw new Error('an item was resolved although it is locked');
}

/** Records a return that cannot be booked, once, and reports it to operators. */
export async function recordUnbooked(
  deps: EndSuspendedDeps,
  pix: Pix,
  { returned, reason }: { returned: PixReturn; reason: UnbookedReason },
): Promise<void> {
  const record = toRecord(pix, { returned, disposition: 'unbooked' });
  if (await insertPixReturn(deps.db, record)) reportUnbooked(deps.logger, pix, reason);
}

const unbooked = counter(
  'pix_returns_unbooked_total',
  'Returns at the acquirer that could not be booked, by reason',
  [],
);

/** Money left that cannot be explained: reconciliation shows it, too. */
function reportUnbooked(logger: Logger, pix: Pix, reason: UnbookedReason): void {
  unbooked.add(1, { reason });
  const fields = { charge_id: pix.chargeId, end_to_end_id: pix.endToEndId, reason };
  logger.error(fields, 'return at the acquirer not booked');
}

function toRecord(
  pix: Pix,
  { returned, disposition }: { returned: PixReturn } & Pick<RecordedReturn, 'disposition'>,
): RecordedReturn {
  return {
    endToEndId: pix.endToEndId,
    chargeId: pix.chargeId,
    returnId: returned.id,
    amount: returned.amountCents,
    nature: returned.nature,
    refundId: null,
    disposition,
  };
}
