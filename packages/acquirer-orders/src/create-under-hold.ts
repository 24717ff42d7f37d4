import type { Deadline } from '@pixmesh/http/deadline';
import { AppError, assertNever } from '@pixmesh/kernel/app-error';

import {
  type CallersRefusal,
  type HoldIntents,
  settleIntent,
  takeIntentHold,
} from './hold-intent.ts';

/**
 * How often one request begins anew because another process moved its row meanwhile. Each time needs another process
 * that drops the same intent within the same request.
 */
const TRIES_MAX = 5;

/** A request under an `Idempotency-Key`, whose derived id is the primary key of the row. */
export type CreationRequest<Row> = {
  deadline: Deadline;
  /** What stands under the id, or the request's own new intent; null where that changed in between. */
  findOrInsert(): Promise<{ row: Row; isNew: boolean } | null>;
  /** Whether a hold may be taken for the intent. Otherwise it is ended as the job would, so that a refusal is final. */
  mayTakeHold(intent: Row): Promise<boolean> | boolean;
  refusalOf(reason: CallersRefusal): AppError;
};

/**
 * Creates what a request asks for, or returns what stands under its key. Safe to repeat from any process for ever: the
 * primary key is the lock, and the money is reserved under the `hold_id` of the row. An intent that an earlier request
 * left behind is finished under its own hold. No transaction is open while the ledger is called.
 *
 * @throws AppError of `refusalOf`; `INTERNAL_ERROR` while the ledger does not answer
 */
export async function createUnderHold<Row extends { holdId: string }, Made extends Row>(
  intents: HoldIntents<Row, Made>,
  request: CreationRequest<Row>,
): Promise<{ made: Made; replayed: boolean }> {
  let ownHoldId: string | null = null;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const stored = await request.findOrInsert();
    if (stored === null) continue;
    if (stored.isNew) ownHoldId = stored.row.holdId;
    // The refusal of another request's hold says nothing of this body and of the funds by now: one fresh try.
    const mayBeginAnew = !stored.isNew && tries === 0;
    const made = await finish(intents, request, { row: stored.row, mayBeginAnew });
    if (made === null) continue;
    // The hold of a row names its inserter, also where another call finished it: exactly one answer is the first.
    return { made, replayed: made.holdId !== ownHoldId };
  }
  throw new AppError('INTERNAL_ERROR', { message: 'an intent was moved too often' });
}

/** What the row is or becomes. Null: read the row again. */
async function finish<Row extends { holdId: string }, Made extends Row>(
  intents: HoldIntents<Row, Made>,
  request: CreationRequest<Row>,
  { row, mayBeginAnew }: { row: Row; mayBeginAnew: boolean },
): Promise<Made | null> {
  if (intents.isMade(row)) return row;
  const { deadline } = request;
  const outcome = (await request.mayTakeHold(row))
    ? await takeIntentHold(intents, row, deadline)
    : await settleIntent(intents, row, deadline);
  switch (outcome.kind) {
    case 'finished':
      return outcome.made;
    case 'refused':
      if (mayBeginAnew) return null;
      throw request.refusalOf(outcome.reason);
    case 'dropped':
      return null;
    case 'moved':
      return await rereadMoved(intents, row, deadline);
    case 'unknown': {
      const { cause } = outcome;
      throw new AppError('INTERNAL_ERROR', {
        message: 'the ledger did not answer for a hold',
        cause,
      });
    }
    default:
      return assertNever(outcome);
  }
}

/**
 * What became of an intent that was moved meanwhile. If it is gone or stands under another hold, ours is voided: no
 * hold may be left behind without its row.
 */
async function rereadMoved<Row extends { holdId: string }, Made extends Row>(
  intents: HoldIntents<Row, Made>,
  intent: Row,
  deadline: Deadline,
): Promise<Made | null> {
  const row = await intents.find(intent);
  if (row?.holdId === intent.holdId) return intents.isMade(row) ? row : null;
  const voided = await intents.holds.void(intents.holdOf(intent), deadline);
  if (voided.kind === 'already_held') intents.report(intent, 'orphaned');
  return null;
}
