import {
  type ApprovePayoutBody,
  type CancelPayoutBody,
  OPERATOR_PAYOUT_PATHS,
} from '@pixmesh/contracts/internal/operator-payouts';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import { findAccount } from '#account/accounts.sql.ts';
import { buildUpstreamPath } from '#forwarding/build-upstream-path.ts';
import type { ForwardableAnswer } from '#forwarding/judge-answer.ts';

import { operatorIdOf } from '../authenticate-operator.ts';
import { changeAudited } from '../owners/audited-change.ts';
import { callOwner, type OwnerAndTablesDeps, parseJson, readAnswer } from '../owners/call-owner.ts';
import { found } from '../read-request.ts';

/** What of a payout decides how it is approved, canceled and recorded. */
const QueuedPayout = z.object({
  id: z.uuid(),
  account_id: z.uuid().transform((id) => id as AccountId),
  status: z.string(),
});

/**
 * `POST /admin/payouts/{id}/approve`. The account's settings are read right before, because approval judges by
 * what they are now (decision 123); that the approver is another one than the requester, the owner enforces.
 */
export async function approvePayout(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  const operatorId = operatorIdOf(request);
  return await decidePayout(deps, request, {
    path: OPERATOR_PAYOUT_PATHS.approve,
    asked: 'payout.approval_requested',
    done: 'payout.approved',
    toBody: async (payout): Promise<ApprovePayoutBody> => {
      const { settings } = found(await findAccount(deps.db, payout.account_id));
      return { operator_id: operatorId, settings };
    },
  });
}

/** `POST /admin/payouts/{id}/cancel`, while the payout waits in the queue (decision 124). */
export async function cancelPayout(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  return await decidePayout(deps, request, {
    path: OPERATOR_PAYOUT_PATHS.cancel,
    asked: 'payout.cancellation_requested',
    done: 'payout.canceled',
    toBody: async (): Promise<CancelPayoutBody> => ({ operator_id: operatorIdOf(request) }),
  });
}

type Decision = {
  path: string;
  asked: 'payout.approval_requested' | 'payout.cancellation_requested';
  done: 'payout.approved' | 'payout.canceled';
  toBody(payout: z.output<typeof QueuedPayout>): Promise<object>;
};

/**
 * A payout never comes back into the queue, so of one that has left it nothing can change any more: its owner
 * answers the repeat or refuses, and there is nothing to record.
 */
async function decidePayout(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
  decision: Decision,
): Promise<ForwardableAnswer> {
  const params = request.params as { id: string };
  const read = await callOwner(deps, 'payouts', {
    method: 'GET',
    path: buildUpstreamPath(OPERATOR_PAYOUT_PATHS.get, params, ''),
  });
  if (read.status === 404) return read;
  const payout = readAnswer(QueuedPayout, 'payouts', read);
  const body = Buffer.from(JSON.stringify(await decision.toBody(payout)));
  const path = buildUpstreamPath(decision.path, { id: payout.id }, '');
  const change = () => callOwner(deps, 'payouts', { method: 'POST', path, body });
  if (payout.status !== 'pending') return await change();
  return await changeAudited(
    deps.db,
    {
      actor: request.actor,
      target: { kind: 'payout', id: payout.id },
      asked: decision.asked,
      done: decision.done,
      before: parseJson(read.body) as object,
    },
    change,
  );
}
