import { randomUUID } from 'node:crypto';

import type { Transaction } from '@pixmesh/postgres/pool';

import { announce, type AnnounceDeps } from '#callbacks/announce.ts';
import { newReturnId } from '#pix/end-to-end-id.ts';

import { type SendEnding, storeEndings, storeReturns } from './end-sends.sql.ts';
import { type StoredReturn, toSendNotice } from './send-resource.ts';
import { claimDueSends, type PlannedSend } from './sends.sql.ts';

/** Orders that move in one transaction. */
export const DUE_BATCH_MAX = 200;

/** What a batch did; `hasNext`: some order has a step to come. */
export type Moved = { count: number; hasNext: boolean };

export type Ending = { send: PlannedSend } & Pick<SendEnding, 'status' | 'error'>;

/** Takes the next step of orders that are due, within the caller's transaction. */
export async function moveDueSends(tx: Transaction, deps: AnnounceDeps): Promise<Moved> {
  const due = await claimDueSends(tx, DUE_BATCH_MAX);
  const ending = due.filter(({ status }) => status === 'EM_PROCESSAMENTO');
  const settled = due.filter(({ status }) => status === 'REALIZADO');
  if (ending.length > 0) {
    const planned = ending.map((send) => ({ send, status: send.plannedStatus, error: null }));
    await endSends(tx, deps, planned);
  }
  if (settled.length > 0) {
    const next = settled.map((send) => ({ send, amountCents: send.plannedReturns[0] ?? 0n }));
    await returnSends(tx, deps, { returns: next, planned: true });
  }
  return {
    count: due.length,
    hasNext: due.some(({ plannedReturns }) => plannedReturns.length > 0),
  };
}

/** Ends orders that the transaction holds, and announces each of them. */
export async function endSends(
  tx: Transaction,
  deps: AnnounceDeps,
  endings: readonly Ending[],
): Promise<void> {
  const items = endings.map(({ send, status, error }) =>
    toSendNotice({
      ...send,
      status,
      error: error ?? send.error,
      settledAt: status === 'REALIZADO' ? send.readAt : null,
      returns: [],
    }),
  );
  const stored = endings.map(({ send: { endToEndId }, ...ending }) => ({ endToEndId, ...ending }));
  await storeEndings(tx, stored, await announce(deps, items));
}

/** Sends money of settled orders back, and announces each return with those before it. */
export async function returnSends(
  tx: Transaction,
  deps: AnnounceDeps,
  work: {
    returns: readonly { send: PlannedSend; amountCents: bigint; nature?: string }[];
    planned: boolean;
  },
): Promise<StoredReturn[]> {
  const made = work.returns.map(({ send, amountCents, nature = 'ORIGINAL' }) => ({
    send,
    item: {
      id: randomUUID().replaceAll('-', ''),
      returnId: newReturnId(send.readAt),
      amountCents,
      nature,
      returnedAt: send.readAt,
    },
  }));
  const items = made.map(({ send, item }) =>
    toSendNotice({ ...send, returns: [...send.returns, item] }),
  );
  const stored = made.map(({ send: { endToEndId }, item }) => ({ ...item, endToEndId }));
  const announcement = await announce(deps, items);
  await storeReturns(tx, stored, { ...announcement, planned: work.planned });
  return made.map(({ item }) => item);
}
