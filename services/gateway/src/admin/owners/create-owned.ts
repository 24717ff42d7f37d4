import type { AccountId } from '@pixmesh/kernel/ids';
import type { FastifyRequest } from 'fastify';

import { findAccount } from '#account/accounts.sql.ts';
import { buildUpstreamPath } from '#forwarding/build-upstream-path.ts';
import type { ForwardableAnswer } from '#forwarding/forwardable-answer.ts';

import type { AuditAction } from '../audit/record-change.ts';
import { readAdminCreationId } from '../creation-id.ts';
import { found, requirePathId } from '../read-request.ts';
import { changeAudited } from './audited-change.ts';
import { callOwner, type OwnerAndTablesDeps, type OwnerService } from './call-owner.ts';
import { readSentBody, wrapBody } from './sent-body.ts';

type Creation = {
  owner: OwnerService;
  kind: 'charge' | 'payout' | 'refund' | 'recovery';
  id: string;
  path: string;
  asked: AuditAction;
  done: AuditAction;
  /** What the owner has to know beside the body and who asks. */
  envelope: object;
};

/**
 * Has an owner create what an operator asks for under an account, for example a payout: with the account's settings
 * of this moment. Safe to repeat under its `Idempotency-Key`; without one, every call is a creation of its own
 * (decision 229).
 */
export async function createOfAccount(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
  creation: Omit<Creation, 'id' | 'envelope' | 'kind'> & { kind: 'charge' | 'payout' },
): Promise<ForwardableAnswer> {
  const account = found(await findAccount(deps.db, requirePathId(request) as AccountId));
  const { id } = readAdminCreationId(request, account.id, creation.kind);
  const { settings } = account;
  return await createOwned(deps, request, {
    ...creation,
    id,
    path: buildUpstreamPath(creation.path, { id: account.id }, ''),
    envelope: { creation_id: id, settings },
  });
}

/**
 * Passes the operator's body on to the owner, who validates it, and only after it has looked the id up (decision 253);
 * recorded as asked for, and as made where this call made it.
 */
export async function createOwned(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
  { owner, kind, id, path, asked, done, envelope }: Creation,
): Promise<ForwardableAnswer> {
  const sent = readSentBody(request);
  const body = wrapBody(sent.text, envelope);
  const change = { actor: request.actor, target: { kind, id }, asked, done, before: null } as const;
  const answer = await changeAudited(deps.db, change, () =>
    callOwner(deps, owner, { request, method: 'POST', path, body }),
  );
  // The owner only sees that there is no body; the gateway knows what was wrong with it.
  if (answer.status === 400 && sent.fault !== null) throw sent.fault;
  return answer;
}
