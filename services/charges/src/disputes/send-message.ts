import { AppError } from '@pixmesh/kernel/app-error';
import { type DisputeId, newId, type OperatorId } from '@pixmesh/kernel/ids';
import type { Transaction } from '@pixmesh/postgres/pool';

import { findAnyCharge, moveCharge } from '#charges/charges.sql.ts';

import type { ChangeDeps } from './apply-change.ts';
import { disputeEvent } from './dispute-events.ts';
import { findDispute, insertMessage } from './disputes.sql.ts';

const TRIES_MAX = 5;

type Said = { disputeId: DisputeId; message: string; operatorId: OperatorId };

/**
 * The platform's word in the chat of a dispute, announced as `dispute.pix.message` (decision 189).
 * @throws AppError `DISPUTE_NOT_FOUND`
 */
export async function sendMessage(deps: ChangeDeps, said: Said): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    if (await deps.db.transaction((tx) => writeMessage(tx, said))) return deps.kickOutbox();
  }
  throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'the charge kept moving' });
}

/** The charge is moved first: where it has moved meanwhile, nothing has been written yet. */
async function writeMessage(tx: Transaction, said: Said): Promise<boolean> {
  const dispute = await findDispute(tx, said.disputeId);
  if (dispute === null) throw new AppError('DISPUTE_NOT_FOUND');
  const charge = await findAnyCharge(tx, dispute.chargeId);
  if (charge === null) throw new AppError('INTERNAL_ERROR', { message: 'a charge vanished' });
  const sequence = charge.eventSequence + 1;
  const { message } = said;
  const event = disputeEvent('dispute.pix.message', { dispute, charge, sequence, message });
  const moved = await moveCharge(tx, {
    from: charge,
    status: charge.status,
    cause: 'dispute_message',
    detail: dispute.id,
    events: [event],
    checkInMs: 'kept',
  });
  if (moved) await insertMessage(tx, { id: newId(), ...said });
  return moved;
}
