import {
  CreateRecoveryBody,
  OPERATOR_DELIVERY_PATHS,
} from '@pixmesh/contracts/internal/operator-deliveries';
import { readBody, readJsonBody } from '@pixmesh/http/json-request';
import { invalidRequest } from '@pixmesh/http/refusal';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { FastifyRequest } from 'fastify';

import { findAccount } from '#account/accounts.sql.ts';
import type { ForwardableAnswer } from '#forwarding/forwardable-answer.ts';

import { readAdminCreationId } from '../creation-id.ts';
import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { createOwned } from '../owners/create-owned.ts';

/**
 * `POST /admin/recoveries`. The namespace of its `Idempotency-Key` is the account, which stands in the body: so that
 * much of it is validated here, before anything is looked up. All else the owner validates after its look-up (decision
 * 253).
 */
export async function requestRecovery(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  const accountId = readAccountId(request);
  if ((await findAccount(deps.db, accountId as AccountId)) === null) {
    throw invalidRequest({ name: 'account_id', expected: 'the id of an account' });
  }
  const { id } = readAdminCreationId(request, accountId, 'recovery');
  return await createOwned(deps, request, {
    owner: 'webhook-dispatcher',
    kind: 'recovery',
    id,
    path: OPERATOR_DELIVERY_PATHS.requestRecovery,
    asked: 'recovery.creation_requested',
    done: 'recovery.created',
    envelope: { recovery_id: id },
  });
}

/** Where it is not there, every fault of the body is named in one answer (decision 11). */
function readAccountId(request: FastifyRequest): string {
  const named = CreateRecoveryBody.pick({ account_id: true }).safeParse(readJsonBody(request));
  if (named.success) return named.data.account_id;
  return readBody(CreateRecoveryBody, request).account_id;
}
