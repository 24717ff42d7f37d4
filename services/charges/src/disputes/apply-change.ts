import type { Receiver } from '@pixmesh/contracts/http/charge';
import type { Database, Queryable } from '@pixmesh/postgres/pool';

import type { ChargeRow } from '#charge/charge-row.ts';
import { chargeEvents } from '#charge/charge-events.ts';
import { moveCharge, type Transition } from '#charge/move-charges.sql.ts';
import { MovedMeanwhile, unlessMoved } from '#charge/unless-moved.ts';
import { failpoint } from '#failpoints.ts';

import type { DisputeChange } from './decide-infraction.ts';
import { disputeEvent } from './dispute-events.ts';
import { disputeCommand } from './dispute-commands.ts';
import type { DisputeRow } from './dispute-row.ts';
import { insertDispute, updateDispute } from './disputes.sql.ts';

/** One change to write: what was read, and what becomes of it. */
export type ChangeToWrite = DisputeAndCharge & { change: DisputeChange };

export type ChangeDeps = { db: Database; receiver: Receiver; wakeOutbox(): void };

/** Dispute and charge as they were read; `isNew`: the dispute is not stored yet. */
export type DisputeAndCharge = { dispute: DisputeRow; charge: ChargeRow; isNew: boolean };

/**
 * Writes one change of a dispute: its row, the charge with its history, the events of both and the ledger's commands
 * in one transaction. False when one of the two has moved since it was read: nothing is written then.
 */
export async function applyChange(
  deps: ChangeDeps,
  read: DisputeAndCharge,
  change: DisputeChange,
): Promise<boolean> {
  const toWrite = { ...read, change };
  const isWritten = await unlessMoved(deps.db, (tx) => writeChange(tx, deps.receiver, toWrite));
  if (!isWritten) return false;
  deps.wakeOutbox();
  await failpoint('charges.dispute.after-commit');
  return true;
}

/** The same within a transaction of the caller's, whose own change the dispute's belongs to. */
export async function writeChange(
  tx: Queryable,
  receiver: Receiver,
  toWrite: ChangeToWrite,
): Promise<void> {
  const { dispute, change } = toWrite;
  const after: DisputeRow = {
    ...dispute,
    status: change.status,
    arrivedResolved: dispute.arrivedResolved || change.arrivedResolved,
    resolvedAt: resolvedAtAfter(dispute, change),
    block: blockAfter(dispute, change),
  };
  // The charge first, as a refund that closes a dispute locks them.
  const moved = await moveCharge(tx, transitionOf(receiver, { ...toWrite, dispute: after }));
  const write = toWrite.isNew ? insertDispute : updateDispute;
  if (!moved || !(await write(tx, after))) {
    throw new MovedMeanwhile('a dispute or its charge moved meanwhile');
  }
}

function transitionOf(receiver: Receiver, { charge, dispute, change }: ChangeToWrite): Transition {
  const { chargeStatus: status, chargeEvent, disputeEvent: type, cause } = change;
  const after = { ...charge, status };
  const events = chargeEvents(after, chargeEvent === null ? [] : [chargeEvent], receiver);
  const sequence = charge.eventSequence + events.length + 1;
  if (type !== null) events.push(disputeEvent(type, { dispute, charge: after, sequence }));
  return {
    from: charge,
    status,
    cause,
    detail: dispute.id,
    events,
    commands: commandsOf(charge, dispute, change),
    checkInMs: 'kept',
  };
}

function commandsOf(charge: ChargeRow, dispute: DisputeRow, { block }: DisputeChange) {
  if (block === 'order') return [disputeCommand('dispute.block', charge, dispute)];
  return block === 'end' ? [disputeCommand('dispute.unblock', charge, dispute)] : [];
}

function resolvedAtAfter(dispute: DisputeRow, { status }: DisputeChange): Date | null {
  // What was announced stays: a later change of the same decision does not move it.
  if (status === dispute.status) return dispute.resolvedAt;
  if (status === 'open' || status === 'under_review') return null;
  return dispute.acquirerDecidedAt ?? dispute.readAt;
}

function blockAfter(dispute: DisputeRow, { block }: DisputeChange): DisputeRow['block'] {
  if (block === 'order') return 'standing';
  return block === 'end' ? 'ended' : dispute.block;
}
