import type { Receiver } from '@pixmesh/contracts/http/charge';
import type { ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import { deriveCommandId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { announceMove } from '#charge/announce-move.ts';
import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { closeDisputeByRefund } from '#disputes/close-by-refund.ts';
import { failpoint } from '#failpoints.ts';

import type { BookStep } from './decide-return.ts';
import { insertPixReturn } from './pix-returns.sql.ts';
import { medReturnCommand, plainReturnCommand } from './return-commands.ts';

export type ApplyReturnDeps = {
  db: Database;
  receiver: Receiver;
  logger: Logger;
  wakeOutbox(): void;
  /** The newest dispute of a Pix, if one is known here. */
  findDisputeId(endToEndId: string): Promise<string | null>;
};

type Booking = Extract<BookStep, { kind: 'book_return' }>;

/**
 * Books a return that no refund of ours explains: its record, its ledger command, and what it makes of the charge are
 * one commit. Answers the charge after it, null where it has moved since it was read.
 */
export async function applyReturn(
  deps: ApplyReturnDeps,
  charge: ChargeRow,
  step: Booking,
): Promise<ChargeRow | null> {
  const { endToEndId, returned } = step;
  const command = await commandOf(deps, charge, step);
  await failpoint('charges.return.before-commit');
  const after = await deps.db.transaction(async (tx) => {
    const moved = await announceMove(
      { db: tx, receiver: deps.receiver },
      {
        from: charge,
        status: step.status,
        cause: step.as === 'med' ? 'med_return' : 'returned_at_acquirer',
        detail: `${endToEndId}/${returned.id}`,
        refundedAmount: step.refundedAmount,
        commands: [command],
        checkInMs: 'kept',
      },
      eventsOf(charge, step),
    );
    if (moved === null) return null;
    // Every record of a return comes with a move of its charge, so the version has told that it is new.
    const isNew = await insertPixReturn(tx, {
      endToEndId,
      returnId: returned.id,
      chargeId: charge.id,
      amount: returned.amountCents,
      nature: returned.nature,
      refundId: null,
      disposition: step.as,
    });
    if (!isNew) throw new Error('a return was recorded without a move of its charge');
    if (moved.status !== 'refunded' || charge.status !== 'infraction') return moved;
    // The dispute is over with this (decision 79), and its events are numbered with those of the charge.
    await closeDisputeByRefund(tx, deps.receiver, { chargeId: charge.id, endToEndId });
    return await findAnyCharge(tx, charge.id);
  });
  if (after === null) return null;
  deps.wakeOutbox();
  await failpoint('charges.return.after-commit');
  return after;
}

async function commandOf(deps: ApplyReturnDeps, charge: ChargeRow, step: Booking) {
  if (step.as === 'returned') return plainReturnCommand(charge, step);
  const { endToEndId } = step;
  // A return may be seen before the dispute that led to it; the ledger keeps its blocks by Pix.
  const disputeId = (await deps.findDisputeId(endToEndId)) ?? unseenDisputeIdOf(endToEndId);
  return medReturnCommand(charge, { ...step, disputeId });
}

/** Stands in for the id of a dispute that is not recorded yet. */
export function unseenDisputeIdOf(endToEndId: string): string {
  return deriveCommandId('dispute', endToEndId);
}

function eventsOf(charge: ChargeRow, { status }: Booking): ChargeEventType[] {
  if (status === charge.status) return [];
  return [status === 'charged_back' ? 'charge.pix.charged_back' : 'charge.pix.refunded'];
}
