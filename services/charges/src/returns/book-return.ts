import type { Receiver } from '@pixmesh/contracts/http/charge';
import type { ChargeEventType } from '@pixmesh/contracts/messages/charge-event.v1';
import type { Database, Transaction } from '@pixmesh/postgres/pool';

import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { type AnnouncedMove, announceMoveIn } from '#charge/move-charges.sql.ts';
import { closeDisputeByRefund } from '#disputes/close-by-refund.ts';
import { type DisputeOfReturnDeps, findDisputeOfReturn } from '#disputes/dispute-of-return.ts';
import { failpoint } from '#failpoints.ts';

import type { BookStep } from './decide-return.ts';
import { insertPixReturn, type RecordedReturn } from './pix-returns.sql.ts';
import { returnCommand } from './return-commands.ts';
import { returnKey } from './return-key.ts';

export type BookReturnDeps = Pick<DisputeOfReturnDeps, 'acquirer'> & {
  db: Database;
  receiver: Receiver;
  wakeOutbox(): void;
};

/**
 * Books a return that no refund of ours explains: its record, its ledger command, and what it makes of the charge are
 * one commit. Returns the charge after it, null where it has moved since it was read; `not_yet` where the acquirer
 * does not answer which dispute it belongs to.
 */
export async function bookReturn(
  deps: BookReturnDeps,
  charge: ChargeRow,
  step: Extract<BookStep, { kind: 'book_return' }>,
): Promise<ChargeRow | 'not_yet' | null> {
  const { endToEndId, returned, status } = step;
  const disputeId = step.as === 'med' ? await findDisputeOfReturn(deps, step) : null;
  if (disputeId === 'unknown') return 'not_yet';
  const command = returnCommand(charge, step, disputeId);
  await failpoint('charges.return.before-commit');
  const after = await deps.db.transaction(
    async (tx) =>
      await writeReturn(tx, deps.receiver, {
        change: {
          from: charge,
          status,
          cause: step.as === 'med' ? 'med_return' : 'returned_at_acquirer',
          detail: returnKey(endToEndId, returned.id),
          refundedAmount: step.refundedAmount,
          commands: [command],
          checkInMs: 'kept',
        },
        event: step.event,
        record: {
          endToEndId,
          returnId: returned.id,
          chargeId: charge.id,
          amount: returned.amountCents,
          nature: returned.nature,
          refundId: null,
          disposition: step.as,
          settledAt: returned.settledAt,
        },
        closesDispute: status === 'refunded' && charge.status === 'infraction',
      }),
  );
  if (after === null) return null;
  deps.wakeOutbox();
  await failpoint('charges.return.after-commit');
  return after;
}

/** What one return writes. */
type ReturnToWrite = {
  change: AnnouncedMove;
  event: ChargeEventType | null;
  record: RecordedReturn & { settledAt: Date | null };
  /** The charge is refunded in full: its open dispute is over (decision 79). */
  closesDispute: boolean;
};

/**
 * Moves the charge by a return, records the return, and closes the dispute that a full refund ends, in the caller's
 * transaction. Returns the charge after it; null where it has moved since it was read, and nothing was written.
 */
export async function writeReturn(
  tx: Transaction,
  receiver: Receiver,
  { change, event, record, closesDispute }: ReturnToWrite,
): Promise<ChargeRow | null> {
  const moved = await announceMoveIn({ db: tx, receiver }, change, event === null ? [] : [event]);
  if (moved === null) return null;
  // Every record of a return comes with a move of its charge, so the version proves that it is new.
  if (!(await insertPixReturn(tx, record))) {
    throw new Error('a return was recorded without a move of its charge');
  }
  if (!closesDispute) return moved;
  // The dispute's event is numbered with those of the charge.
  const { id: chargeId } = moved;
  await closeDisputeByRefund(tx, receiver, { chargeId, endToEndId: record.endToEndId });
  return await findAnyCharge(tx, chargeId);
}
