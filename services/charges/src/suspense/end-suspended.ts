import type { PixReturn } from '@pixmesh/acquirer/client';
import type { Database, Transaction } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { returnUnbooked } from '#events.ts';
import { failpoint } from '#failpoints.ts';
import type { UnbookedReason } from '#returns/decide-return.ts';
import { insertPixReturn, type RecordedReturn } from '#returns/pix-returns.sql.ts';

import { type LockedItem, lockItem } from './lock-item.sql.ts';
import { insertResolution, lockResolution, orderReturn } from './resolutions.sql.ts';
import { returnCommand } from './suspense-commands.ts';
import type { SuspenseItem } from './suspense-item.ts';

export type EndSuspendedDeps = { db: Database; logger: Logger; wakeOutbox(): void };

type Pix = Pick<SuspenseItem, 'endToEndId' | 'chargeId'>;

/**
 * Money of a Pix in suspense went back to its payer, by our order or without one. Each return is booked once: a part
 * leaves its item open for what is left, and whatever returns the last cent ends it. Money that was given to its owner
 * before cannot be taken from there, nor more than there is: such a return is kept unbooked, and an operator is told.
 */
export async function endSuspended(
  deps: EndSuspendedDeps,
  pix: Pix,
  returned: PixReturn,
): Promise<void> {
  await failpoint('charges.return.before-commit');
  const end = await deps.db.transaction(async (tx) => await bookOnce(tx, pix, returned));
  if (end === 'known') return;
  if (end !== 'booked') return tell(deps, pix, end);
  deps.wakeOutbox();
  await failpoint('charges.return.after-commit');
}

async function bookOnce(
  tx: Transaction,
  pix: Pix,
  returned: PixReturn,
): Promise<'booked' | 'known' | UnbookedReason> {
  const locked = await lockItem(tx, pix.endToEndId);
  if (locked === null) throw new Error('a return of a Pix that does not stand in suspense');
  if (locked.returnIds.has(returned.id)) return 'known';
  const standing = await lockResolution(tx, locked.item.id);
  const isAccepted = standing?.action === 'accept';
  if (isAccepted || returned.amountCents > locked.left) {
    await insertPixReturn(tx, toRecord(pix, { returned, disposition: 'unbooked' }));
    return isAccepted ? 'accepted_before' : 'exceeds_received';
  }
  await bookReturn(tx, locked, { returned, standing });
  return 'booked';
}

async function bookReturn(
  tx: Transaction,
  locked: LockedItem,
  {
    returned,
    standing,
  }: { returned: PixReturn; standing: Awaited<ReturnType<typeof lockResolution>> },
): Promise<void> {
  const end = returnCommand(locked, returned);
  const disposition = end.isPart ? 'suspense_part' : 'suspense';
  const record = toRecord(locked.item, { returned, disposition });
  const { amountCents: amount } = returned;
  if (amount < locked.left) {
    await insertPixReturn(tx, record, end.commands);
    return;
  }
  await insertPixReturn(tx, record);
  if (standing !== null) return await orderReturn(tx, standing, { amount, end });
  const how = { action: 'return', accountId: null, requestedBy: null } as const;
  const stored = await insertResolution(tx, { item: locked.item, amount, end, ...how });
  if (stored === null) throw new Error('an item was resolved although it is locked');
}

/** Keeps a return that cannot be booked, once, and tells an operator. */
export async function keepUnbooked(
  deps: EndSuspendedDeps,
  pix: Pix,
  { returned, reason }: { returned: PixReturn; reason: UnbookedReason },
): Promise<void> {
  const record = toRecord(pix, { returned, disposition: 'unbooked' });
  if (await insertPixReturn(deps.db, record)) tell(deps, pix, reason);
}

function tell(
  { logger }: EndSuspendedDeps,
  { chargeId, endToEndId }: Pix,
  reason: UnbookedReason,
): void {
  returnUnbooked(logger, { charge_id: chargeId, end_to_end_id: endToEndId, reason });
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
