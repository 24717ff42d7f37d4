import {
  OPERATOR_PAYOUT_PATHS,
  type RequestPayoutBody,
} from '@pixmesh/contracts/internal/operator-payouts';
import { readJsonBody } from '@pixmesh/http/json-request';
import { rawBody } from '@pixmesh/http/service-app';
import { AppError } from '@pixmesh/kernel/app-error';
import type { AccountId, PayoutId } from '@pixmesh/kernel/ids';
import type { FastifyRequest } from 'fastify';

import { findAccount } from '#account/accounts.sql.ts';
import { buildUpstreamPath } from '#forwarding/build-upstream-path.ts';
import type { ForwardableAnswer } from '#forwarding/judge-answer.ts';

import { operatorIdOf } from '../authenticate-operator.ts';
import { readAdminCreationId } from '../create-once.ts';
import { changeAudited } from '../owners/audited-change.ts';
import { callOwner, type OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { found, readPathId } from '../read-request.ts';

/**
 * `POST /admin/accounts/{id}/payouts`: a payout that waits for a second operator. Safe to repeat under its
 * `Idempotency-Key`; without one, every call is a payout of its own (decision 229). The body is the owner's to
 * judge, and only after it has looked the id up (decision 253).
 */
export async function requestPayout(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  const account = found(await findAccount(deps.db, readPathId(request) as AccountId));
  const id = readAdminCreationId(request, account.id, 'payout').id as PayoutId;
  const sent = readSentBody(request);
  const body = wrapBody(sent.text, {
    operator_id: operatorIdOf(request),
    creation_id: id,
    settings: account.settings,
  });
  const path = buildUpstreamPath(OPERATOR_PAYOUT_PATHS.request, { id: account.id }, '');
  const change = {
    actor: request.actor,
    target: { kind: 'payout', id },
    asked: 'payout.creation_requested',
    done: 'payout.created',
    before: null,
  } as const;
  const answer = await changeAudited(deps.db, change, () =>
    callOwner(deps, 'payouts', { method: 'POST', path, body }),
  );
  // The owner can only say that there is no body; what was wrong with it, the gateway has seen.
  if (answer.status === 400 && sent.fault !== null) throw sent.fault;
  return answer;
}

/** The text of the body where it is one JSON object, else what is wrong with it. */
function readSentBody(
  request: FastifyRequest,
): { text: string; fault: null } | { text: 'null'; fault: AppError } {
  try {
    readJsonBody(request);
    return { text: new TextDecoder().decode(rawBody(request.body)), fault: null };
  } catch (error) {
    if (error instanceof AppError) return { text: 'null', fault: error };
    throw error;
  }
}

/**
 * The operator's text goes into the owner's body as it was sent. Written anew, numbers such as `1e20` would grow
 * beyond the owner's bound, and `1e400` would become null.
 */
function wrapBody(text: string, envelope: Omit<RequestPayoutBody, 'body'>): Buffer {
  return Buffer.from(`${JSON.stringify(envelope).slice(0, -1)},"body":${text}}`);
}
