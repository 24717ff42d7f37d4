import { OPERATOR_CHARGE_PATHS } from '@pixmesh/contracts/internal/operator-charges';
import { deriveResourceId } from '@pixmesh/kernel/ids';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import { readIdempotencyKey } from '#authentication/read-idempotency-key.ts';
import { buildUpstreamPath } from '#forwarding/build-upstream-path.ts';
import type { ForwardableAnswer } from '#forwarding/forwardable-answer.ts';

import { callOwner, type OwnerAndTablesDeps, readAnswer } from '../owners/call-owner.ts';
import { createOwned } from '../owners/create-owned.ts';

/** What of a charge names its refunds. */
const RefundedCharge = z.object({ id: z.uuid(), account_id: z.uuid() });

/**
 * `POST /admin/charges/{id}/refunds`. The `Idempotency-Key` is required, because a refund that was asked for twice is
 * money that is gone twice. Its namespace is the account, so the charge is read at its owner first.
 */
export async function refundCharge(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  const key = readIdempotencyKey(request.raw.rawHeaders);
  const read = await callOwner(deps, 'charges', {
    request,
    method: 'GET',
    path: buildUpstreamPath(OPERATOR_CHARGE_PATHS.get, request.params as { id: string }, ''),
  });
  if (read.status === 404) return read;
  const charge = readAnswer(RefundedCharge, 'charges', read);
  const id = deriveResourceId(charge.account_id, 'refund', key);
  return await createOwned(deps, request, {
    owner: 'charges',
    kind: 'refund',
    id,
    path: buildUpstreamPath(OPERATOR_CHARGE_PATHS.refunds, { id: charge.id }, ''),
    asked: 'refund.creation_requested',
    done: 'refund.created',
    envelope: { refund_id: id },
  });
}
