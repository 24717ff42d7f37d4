import {
  type ApprovePayoutBody,
  type CancelPayoutBody,
  OPERATOR_PAYOUT_PATHS,
} from '@pixmesh/contracts/internal/operator-payouts';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import { findAccount } from '#account/accounts.sql.ts';
import type { ForwardableAnswer } from '#forwarding/forwardable-answer.ts';

import { operatorIdOf } from '../authenticate-operator.ts';
import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { changeOwned } from '../owners/change-owned.ts';
import { found } from '../read-request.ts';

/** What of a payout decides how it is approved, canceled and recorded. */
const QueuedPayout = z.object({
  id: z.uuid(),
  account_id: z.uuid().transform((id) => id as AccountId),
  status: z.string(),
});

/** A payout never comes back into the queue. */
const QUEUED = {
  owner: 'payouts',
  kind: 'payout',
  get: OPERATOR_PAYOUT_PATHS.get,
  schema: QueuedPayout,
  mayChange: ({ status }: { status: string }) => status === 'pending',
} as const;

/**
 * `POST /admin/payouts/{id}/approve`. The account's settings are read right before, because approval decides by
 * what they are now (decision 123); that the approver is another one than the requester, the owner enforces.
 */
export async function approvePayout(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  return await changeOwned(deps, request, {
    ...QUEUED,
    path: OPERATOR_PAYOUT_PATHS.approve,
    asked: 'payout.approval_requested',
    done: 'payout.approved',
    toBody: async (payout): Promise<ApprovePayoutBody> => {
      const { settings } = found(await findAccount(deps.db, payout.account_id));
      return { operator_id: operatorIdOf(request), settings };
    },
  });
}

/** `POST /admin/payouts/{id}/cancel`, while the payout waits in the queue (decision 124). */
export async function cancelPayout(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  return await changeOwned(deps, request, {
    ...QUEUED,
    path: OPERATOR_PAYOUT_PATHS.cancel,
    asked: 'payout.cancellation_requested',
    done: 'payout.canceled',
    toBody: (): CancelPayoutBody => ({ operator_id: operatorIdOf(request) }),
  });
}
