import { AppError } from '@pixmesh/kernel/app-error';
import type { DisputeId, OperatorId } from '@pixmesh/kernel/ids';
import { decideAnew } from '@pixmesh/postgres/decide-anew';
import type { Transaction } from '@pixmesh/postgres/pool';

import { findAnyCharge } from '#charge/charges.sql.ts';
import { moveCharge } from '#charge/move-charges.sql.ts';
import { MovedMeanwhile, unlessMoved } from '#charge/unless-moved.ts';

import type { ChangeDeps } from './apply-change.ts';
import { disputeEvent } from './dispute-events.ts';
import { findMessage, insertMessage } from './dispute-messages.sql.ts';
import { findDispute } from './disputes.sql.ts';

type MessageToSend = { id: string; disputeId: DisputeId; message: string; operatorId: OperatorId };

/** The dispute in whose chat the message stands, and whether an earlier call had put it there. */
type Sent = { disputeId: DisputeId; replayed: boolean; mismatch: boolean };

/** The message of an id, as an earlier call left it; null where there is none. A body that is none is another one. */
export async function replayMessage(
  deps: Pick<ChangeDeps, 'db'>,
  requested: { id: string; disputeId: DisputeId; message: string | null },
): Promise<Sent | null> {
  const stored = await findMessage(deps.db, requested.id);
  if (stored === null) return null;
  const { disputeId } = stored;
  const isSame = stored.message === requested.message && disputeId === requested.disputeId;
  return { disputeId, replayed: true, mismatch: !isSame };
}

/**
 * The platform's message in the chat of a dispute, announced as `dispute.pix.message` (decision 189), once for each id.
 * @throws AppError `DISPUTE_NOT_FOUND`
 */
export async function sendMessage(deps: ChangeDeps, toSend: MessageToSend): Promise<Sent> {
  return await decideAnew('the charge', async () => {
    const sentBefore = await replayMessage(deps, toSend);
    if (sentBefore !== null) return sentBefore;
    if (!(await unlessMoved(deps.db, (tx) => writeMessage(tx, toSend)))) return 'moved';
    deps.wakeOutbox();
    return { disputeId: toSend.disputeId, replayed: false, mismatch: false };
  });
}

/** The event and the message that its id stands for are one commit; of calls at once with one id, one gets there. */
async function writeMessage(tx: Transaction, toSend: MessageToSend): Promise<void> {
  const known = await findDispute(tx, toSend.disputeId);
  if (known === null) throw new AppError('DISPUTE_NOT_FOUND');
  const charge = await findAnyCharge(tx, known.chargeId);
  // Read after its charge, whose version guards the event: what moves a dispute moves its charge too.
  const dispute = await findDispute(tx, toSend.disputeId);
  if (charge === null || dispute === null) {
    throw new AppError('INTERNAL_ERROR', { message: 'a charge or a dispute vanished' });
  }
  const sequence = charge.eventSequence + 1;
  const { message } = toSend;
  const event = disputeEvent('dispute.pix.message', { dispute, charge, sequence, message });
  const moved = await moveCharge(tx, {
    from: charge,
    status: charge.status,
    cause: 'dispute_message',
    detail: dispute.id,
    events: [event],
    checkInMs: 'kept',
  });
  if (!moved || !(await insertMessage(tx, toSend))) {
    throw new MovedMeanwhile('the charge moved, or the message was sent, meanwhile');
  }
}
