import { AppError } from '@pixmesh/kernel/app-error';
import { toAcquirerId } from '@pixmesh/kernel/ids';

import { conflict } from '#control/conflict.ts';
import type { ChangeDeps } from '#callbacks/announce.ts';
import type { Clock } from '#clock/clock.ts';
import { newEndToEndId } from '#pix/end-to-end-id.ts';

import { decideEnding, type EndingByHand } from './decide-ending.ts';
import { rejectionOf } from './decide-send.ts';
import { endSends, returnSends } from './end-sends.ts';
import { storeEndings } from './end-sends.sql.ts';
import { toRecipient } from './recipient.ts';
import type { StoredReturn } from './send-resource.ts';
import { insertSends } from './new-sends.sql.ts';
import { lockSend, type PlannedSend } from './sends.sql.ts';

/** Key of the recipient of a foreign order. */
const FOREIGN_RECIPIENT = { chave: 'somebody@else.example' };

/**
 * Settles or rejects an order now, or turns a final one around. Safe to repeat: an order that is already there
 * stays as it is.
 * @throws AppError `NOT_FOUND`, or `CONFLICT` where the order stands otherwise
 */
export async function endByHand(
  deps: ChangeDeps,
  id: string,
  ending: EndingByHand,
): Promise<PlannedSend> {
  const send = await deps.db.transaction(async (tx) => {
    const locked = await lockSend(tx, id);
    if (locked === null) throw new AppError('NOT_FOUND');
    const decision = decideEnding(locked.status, ending);
    if (decision.kind === 'conflict') throw conflict(`The order is ${locked.status}.`);
    if (decision.kind === 'nothing') return locked;
    const { status } = decision;
    const error = status === 'NAO_REALIZADO' ? rejectionOf(ending.words) : null;
    await endSends(tx, deps, [{ send: locked, status, error }]);
    return { ...locked, status };
  });
  deps.wakeCallbacks();
  return send;
}

/**
 * The recipient of a settled order sends money back; by default all that is left. Null where there is no such order.
 * @throws AppError `CONFLICT` for an order that has not settled or has too little left
 */
export async function returnSendByHand(
  deps: ChangeDeps,
  id: string,
  asked: { amountCents: bigint | null; nature: string },
): Promise<{ send: PlannedSend; item: StoredReturn } | null> {
  const made = await deps.db.transaction(async (tx) => {
    const send = await lockSend(tx, toAcquirerId(id));
    if (send === null) return null;
    if (send.status !== 'REALIZADO') throw conflict(`The order is ${send.status}.`);
    const returned = send.returns.reduce((sum, item) => sum + item.amountCents, 0n);
    const left = send.amountCents - returned;
    const amountCents = asked.amountCents ?? left;
    if (amountCents > left || left === 0n) throw conflict('That much is not left to return.');
    const returns = [{ send, amountCents, nature: asked.nature }];
    const [item] = await returnSends(tx, deps, { returns, planned: false });
    return { send, item: item as StoredReturn };
  });
  if (made !== null) deps.wakeCallbacks();
  return made;
}

/**
 * Money leaves the account by another way: an order nobody of the mesh made, settled at once, announced to nobody.
 * @throws AppError `CONFLICT` for a taken idEnvio
 */
export async function addForeignSend(
  { db, clock, pixKey }: Pick<ChangeDeps, 'db' | 'pixKey'> & { clock: Clock },
  order: { amountCents: bigint; idEnvio: string | null; requestedAt: Date | null },
): Promise<Pick<PlannedSend, 'idEnvio' | 'endToEndId' | 'amountCents' | 'status'>> {
  const endToEndId = newEndToEndId(order.requestedAt ?? clock.now());
  await db.transaction(async (tx) => {
    const send = {
      ...order,
      endToEndId,
      pixKey,
      payerText: null,
      recipient: toRecipient(FOREIGN_RECIPIENT),
      plan: { settlesInMs: null, error: null, returns: [] },
    };
    const [stored = null] = await insertSends(tx, [send]);
    if (stored === null) throw conflict('The idEnvio is taken.');
    const ending = { endToEndId, status: 'REALIZADO' as const, error: null };
    await storeEndings(tx, [ending], { pixKey, notices: [] });
  });
  return { ...order, endToEndId, status: 'REALIZADO' };
}
