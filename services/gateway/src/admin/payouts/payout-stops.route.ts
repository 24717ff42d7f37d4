import {
  PAYOUT_STOP_PATHS,
  ResumePayoutsBody,
  StopPayoutsBody,
} from '@pixmesh/contracts/internal/payout-stops';
import { readBody } from '@pixmesh/http/json-request';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { findAccount } from '#account/accounts.sql.ts';
import { type ForwardableAnswer, relayAnswer } from '#forwarding/forwardable-answer.ts';

import type { AuditAction } from '../audit/record-change.ts';
import { changeAudited } from '../owners/audited-change.ts';
import { callOwner, type OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { found } from '../read-request.ts';

/** What the audit log names the stop of all accounts by. */
const ALL_ACCOUNTS = 'all';

type Order = { account_id: string | null };
type Change = { path: string; asked: AuditAction; done: AuditAction };

/** Operators stop money out, of an account or of all, and have it go on. The list of stops is forwarded as it is. */
export function registerPayoutStops(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  app.post('/admin/payouts/stop', async (request, reply) => {
    const order = readBody(StopPayoutsBody, request);
    const { account_id: accountId } = order;
    // A stop of an account that does not exist would stop nothing, and look as if it did.
    if (accountId !== null) found(await findAccount(deps.db, accountId as AccountId));
    const change = {
      path: PAYOUT_STOP_PATHS.stop,
      asked: 'payouts.stop_requested',
      done: 'payouts.stopped',
    } as const;
    return relayAnswer(reply, await changeStop(deps, request, { order, ...change }));
  });

  app.post('/admin/payouts/resume', async (request, reply) => {
    const order = readBody(ResumePayoutsBody, request);
    const change = {
      path: PAYOUT_STOP_PATHS.resume,
      asked: 'payouts.resumption_requested',
      done: 'payouts.resumed',
    } as const;
    return relayAnswer(reply, await changeStop(deps, request, { order, ...change }));
  });
}

async function changeStop(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
  { order, path, asked, done }: Change & { order: Order },
): Promise<ForwardableAnswer> {
  const { account_id: accountId } = order;
  const body = Buffer.from(JSON.stringify(order));
  const target = { kind: 'payout_stop', id: accountId ?? ALL_ACCOUNTS } as const;
  const audited = { actor: request.actor, target, asked, done, before: null };
  return await changeAudited(deps.db, audited, () =>
    callOwner(deps, 'payouts', { request, method: 'POST', path, body }),
  );
}
