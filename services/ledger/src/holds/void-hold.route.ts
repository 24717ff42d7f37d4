import { type VoidHoldAnswer, VoidHoldBody } from '@pixmesh/contracts/internal/holds';
import { readBody } from '@pixmesh/http/json-request';
import { AppError } from '@pixmesh/kernel/app-error';
import { type AccountId, deriveCommandId, type HoldId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';

import type { HoldVoid } from '#commands/ledger-command.ts';
import type { LedgerEngine } from '#engine/ledger-engine.ts';
import { failpoint } from '#failpoints.ts';

import { deadlineOf, decidedOrThrow, holdIdOf } from './hold-request.ts';

/**
 * `POST /internal/holds/{id}/void`: makes sure that nothing is held under this id and never will be, also by a hold
 * that is still on its way, or answers that it was. It never releases what is held.
 */
export function registerVoidHold(app: FastifyInstance, deps: { engine: LedgerEngine }): void {
  app.post<{ Params: { id: string } }>(
    '/internal/holds/:id/void',
    async (request): Promise<VoidHoldAnswer> => {
      const holdId = holdIdOf(request.params.id);
      const body = readBody(VoidHoldBody, request);
      const outcome = await deps.engine.submit(voidCommand(holdId, body), deadlineOf(request));
      const { code, hold } = decidedOrThrow(outcome);
      if (hold === null) throw new AppError('INTERNAL_ERROR', { message: `no hold ${holdId}` });
      await failpoint('ledger.hold.after-commit');
      return {
        hold_id: holdId,
        outcome: code === 'already_held' ? 'already_held' : 'voided',
        state: hold.state,
      };
    },
  );
}

/** One command per hold, for ever. */
export function voidCommand(holdId: HoldId, body: VoidHoldBody): HoldVoid {
  return {
    kind: 'hold.void',
    commandId: deriveCommandId('hold_void', holdId),
    holdId,
    accountId: body.account_id.toLowerCase() as AccountId,
    resourceId: body.resource_id.toLowerCase(),
  };
}
