import { randomUUID } from 'node:crypto';

import { AppError } from '@pixmesh/kernel/app-error';
import type { Transaction } from '@pixmesh/postgres/pool';

import { announce, type AnnounceDeps, type ChangeDeps } from '#callbacks/announce.ts';
import { conflict } from '#control/conflict.ts';
import { newReturnId } from '#pix/end-to-end-id.ts';
import { toPixNotice } from '#pix/pix-resource.ts';
import { type HeldPix, holdReceivedPix } from '#pix/received-pix.sql.ts';

import { insertDoneReturn } from './refunds.sql.ts';
import { leftOf, type PixReturn } from '#pix/return-resource.ts';

/** What goes back; `disputeId` names the dispute whose decision it follows. */
export type ReturnToMake = { amountCents: bigint; nature: string; disputeId: string | null };

/** Returns money of a Pix that the transaction holds, done at once, and announces it. The amount has to be left. */
export async function returnWithin(
  tx: Transaction,
  deps: AnnounceDeps,
  work: { pix: HeldPix; made: ReturnToMake },
): Promise<PixReturn> {
  const { pix, made } = work;
  const item: PixReturn = {
    returnId: newReturnId(pix.readAt),
    id: randomUUID().replaceAll('-', ''),
    status: 'DEVOLVIDO',
    amountCents: made.amountCents,
    nature: made.nature,
    description: null,
    reason: null,
    requestedAt: pix.readAt,
    settledAt: pix.readAt,
  };
  const items = [toPixNotice({ ...pix, returns: [...pix.returns, item] })];
  const { endToEndId, readAt: settledAt } = pix;
  const done = { ...item, endToEndId, disputeId: made.disputeId, settledAt };
  await insertDoneReturn(tx, done, await announce(deps, items));
  return item;
}

/**
 * Money of a received Pix goes back although nobody here has asked for it; by default all that is left.
 * @throws AppError `NOT_FOUND`, or `CONFLICT` where too little is left
 */
export async function returnReceivedByHand(
  deps: ChangeDeps,
  endToEndId: string,
  asked: { amountCents: bigint | null; nature: string },
): Promise<{ pix: HeldPix; item: PixReturn }> {
  const done = await deps.db.transaction(async (tx) => {
    const pix = await holdReceivedPix(tx, endToEndId);
    if (pix === null) throw new AppError('NOT_FOUND');
    const left = leftOf(pix);
    const amountCents = asked.amountCents ?? left;
    if (amountCents > left || left === 0n) throw conflict('That much is not left to return.');
    const made = { amountCents, nature: asked.nature, disputeId: null };
    return { pix, item: await returnWithin(tx, deps, { pix, made }) };
  });
  deps.wakeCallbacks();
  return done;
}
