import { OPERATOR_DISPUTE_PATHS } from '@pixmesh/contracts/internal/operator-disputes';
import { deriveResourceId, newId } from '@pixmesh/kernel/ids';
import type { FastifyRequest } from 'fastify';

import { readOptionalIdempotencyKey } from '#authentication/read-idempotency-key.ts';
import type { ForwardableAnswer } from '#forwarding/forwardable-answer.ts';

import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { changeOwned } from '../owners/change-owned.ts';
import { readSentBody, wrapBody } from '../owners/sent-body.ts';
import { DISPUTE } from './owned-dispute.ts';

/**
 * The platform's word, announced as `dispute.pix.message` (decision 189); in any state of the dispute. With an
 * `Idempotency-Key` it is sent once, and what it was sent with is compared by its owner, after the look-up (decision
 * 253).
 */
export async function sendMessage(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  const sent = readSentBody(request);
  const answer = await changeOwned(deps, request, {
    ...DISPUTE,
    path: OPERATOR_DISPUTE_PATHS.messages,
    asked: 'dispute.message_requested',
    done: 'dispute.message_sent',
    toBody: ({ account_id: accountId }) => {
      const key = readOptionalIdempotencyKey(request.raw.rawHeaders);
      const message_id = key === null ? newId() : deriveResourceId(accountId, 'message', key);
      return wrapBody(sent.text, { message_id });
    },
  });
  // The owner only sees that there is no body; the gateway knows what was wrong with it.
  if (answer.status === 400 && sent.fault !== null) throw sent.fault;
  return answer;
}
