import {
  type ApprovePayoutBody,
  OPERATOR_PAYOUT_PATHS,
} from '@pixmesh/contracts/internal/operator-payouts';
import { idOf } from '@pixmesh/contracts/internal/id-fields';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { findAccount } from '#account/accounts.sql.ts';
import { relayAnswer } from '#forwarding/forwardable-answer.ts';

import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { checkedResource } from '../owners/checked-resource.ts';
import { createOfAccount } from '../owners/create-owned.ts';
import { registerOwnedChange } from '../owners/owned-change.route.ts';
import { found } from '../read-request.ts';

/** A payout that waits for a second operator. */
const REQUESTED = {
  owner: 'payouts',
  kind: 'payout',
  path: OPERATOR_PAYOUT_PATHS.request,
  asked: 'payout.creation_requested',
  done: 'payout.created',
} as const;

/** A payout never comes back into the queue. */
const QUEUED = {
  owner: 'payouts',
  kind: 'payout',
  get: OPERATOR_PAYOUT_PATHS.get,
  schema: z.object({ id: z.uuid(), account_id: idOf<AccountId>(), status: z.string() }),
  mayChange: ({ status }: { status: string }) => status === 'pending',
} as const;

/** What operators do with payouts: request, approve, cancel, check. Reads are forwarded as they are. */
export function registerPayouts(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  app.post('/admin/accounts/:id/payouts', async (request, reply) =>
    relayAnswer(reply, await createOfAccount(deps, request, REQUESTED)),
  );
  // The account's settings are read right before, because approval decides by what they are now (decision 123); that
  // the approver is another one than the requester, the owner enforces.
  registerOwnedChange(app, deps, {
    ...QUEUED,
    url: '/admin/payouts/:id/approve',
    path: OPERATOR_PAYOUT_PATHS.approve,
    asked: 'payout.approval_requested',
    done: 'payout.approved',
    toBody: async (payout): Promise<ApprovePayoutBody> => {
      const { settings } = found(await findAccount(deps.db, payout.account_id));
      return { settings };
    },
  });
  // While the payout waits in the queue (decision 124).
  registerOwnedChange(app, deps, {
    ...QUEUED,
    url: '/admin/payouts/:id/cancel',
    path: OPERATOR_PAYOUT_PATHS.cancel,
    asked: 'payout.cancellation_requested',
    done: 'payout.canceled',
  });
  registerOwnedChange(app, deps, {
    ...QUEUED,
    url: '/admin/payouts/:id/check',
    path: OPERATOR_PAYOUT_PATHS.check,
    asked: 'payout.check_requested',
    done: 'payout.checked',
    auditedOf: checkedResource,
    // Of a canceled one there is nothing to check: its owner refuses.
    mayChange: ({ status }) => status !== 'canceled',
  });
}
