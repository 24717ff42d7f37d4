import { TakeHoldAnswer, TakeHoldBody } from '@pixmesh/contracts/internal/holds';
import { readBody } from '@pixmesh/http/json-request';
import { invalidRequest } from '@pixmesh/http/refusal';
import { AppError } from '@pixmesh/kernel/app-error';
import type { AccountId, HoldId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { isPlainText } from '@pixmesh/kernel/text';
import type { FastifyInstance } from 'fastify';

import type { HoldTake } from '#commands/ledger-command.ts';
import type { Hold, OutcomeCode } from '#commands/outcome.ts';
import type { LedgerEngine } from '#engine/ledger-engine.ts';
import { failpoint } from '#failpoints.ts';

import { deadlineOf, decidedOrThrow, holdIdOf } from './hold-request.ts';

/**
 * `PUT /internal/holds/{id}`: amount and fee leave the balance together, or not at all, before this answers. Sticky
 * by the hold's id for ever, refusals too, so it is safe to repeat after any failure (decision 134).
 */
export function registerTakeHold(app: FastifyInstance, deps: { engine: LedgerEngine }): void {
  app.put<{ Params: { id: string } }>('/internal/holds/:id', async (request) => {
    const holdId = holdIdOf(request.params.id);
    const command = takeCommand(holdId, readBody(TakeHoldBody, request));
    const outcome = await deps.engine.submit(command, deadlineOf(request));
    const { code, hold } = decidedOrThrow(outcome);
    await failpoint('ledger.hold.after-commit');
    return toAnswer(holdId, code, hold);
  });
}

/** @throws AppError `VALIDATION_ERROR` for a refund without its Pix, or with a fee; and for a payout with a Pix */
export function takeCommand(holdId: HoldId, body: TakeHoldBody): HoldTake {
  const { end_to_end_id: endToEndId = null, kind, fee } = body;
  const faults = [
    ...(isPixOf(kind, endToEndId)
      ? []
      : [{ name: 'end_to_end_id', expected: 'the Pix of a refund' }]),
    ...(kind === 'refund' && fee > 0n ? [{ name: 'fee', expected: '0 for a refund' }] : []),
  ];
  if (faults.length > 0) throw invalidRequest(...faults);
  return {
    kind: 'hold.take',
    commandId: holdId,
    holdId,
    accountId: body.account_id.toLowerCase() as AccountId,
    resourceId: body.resource_id.toLowerCase(),
    holdKind: body.kind,
    amount: toCents(body.amount),
    fee: toCents(body.fee),
    endToEndId,
  };
}

/** A null byte in it could not be stored. */
function isPixOf(kind: TakeHoldBody['kind'], endToEndId: string | null): boolean {
  return kind === 'refund' ? endToEndId !== null && isPlainText(endToEndId) : endToEndId === null;
}

function toAnswer(holdId: HoldId, code: OutcomeCode, hold: Hold | null): TakeHoldAnswer {
  if (hold === null) throw new AppError('INTERNAL_ERROR', { message: `hold ${holdId} is missing` });
  const reason = TakeHoldAnswer.shape.reason.safeParse(code).data ?? null;
  return {
    hold_id: holdId,
    outcome: reason === null ? 'held' : 'refused',
    reason,
    state: hold.state,
  };
}
