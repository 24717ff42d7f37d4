import type { Transaction } from '@pixmesh/postgres/pool';

import { announce, type AnnounceDeps } from '#callbacks/announce.ts';
import { type StoredPix, toPixNotice } from '#pix/pix-resource.ts';
import { findReceivedPixes } from '#pix/received-pix.sql.ts';

import { claimDueRefunds, type DueRefund, storeRefundEndings } from './refunds.sql.ts';
import type { PixReturn } from '#pix/return-resource.ts';

/** Refunds that end in one transaction. */
export const DUE_REFUNDS_MAX = 200;

/** Ends refunds that are due, within the caller's transaction; answers how many. Each Pix is announced once. */
export async function endDueRefunds(tx: Transaction, deps: AnnounceDeps): Promise<number> {
  const due = await claimDueRefunds(tx, DUE_REFUNDS_MAX);
  if (due.length === 0) return 0;
  const endings = new Map(due.map((ending) => [ending.returnId, ending]));
  const pixes = await findReceivedPixes(
    tx,
    due.map(({ endToEndId }) => endToEndId),
  );
  const items = pixes.map((pix) => toPixNotice(withEndings(pix, endings)));
  await storeRefundEndings(tx, due, await announce(deps, items));
  return due.length;
}

/** The Pix as it will be once its refunds have ended. */
function withEndings(pix: StoredPix, endings: ReadonlyMap<string, DueRefund>): StoredPix {
  return { ...pix, returns: pix.returns.map((item) => end(item, endings.get(item.returnId))) };
}

function end(item: PixReturn, ending: DueRefund | undefined): PixReturn {
  if (!ending) return item;
  const { plannedStatus: status, readAt } = ending;
  return { ...item, status, settledAt: status === 'DEVOLVIDO' ? readAt : null };
}
