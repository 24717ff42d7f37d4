import {
  MessageBody,
  OPERATOR_DISPUTE_PATHS,
  type SendMessageBody,
} from '@pixmesh/contracts/internal/operator-disputes';
import { readJsonBody } from '@pixmesh/http/json-request';
import { AppError } from '@pixmesh/kernel/app-error';
import { deriveResourceId, newId } from '@pixmesh/kernel/ids';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';

import { readOptionalIdempotencyKey } from '#authentication/read-idempotency-key.ts';
import type { ForwardableAnswer } from '#forwarding/forwardable-answer.ts';

import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { changeOwned } from '../owners/change-owned.ts';
import { readBody } from '../read-request.ts';
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
  const sent = readSent(request);
  const answer = await changeOwned(deps, request, {
    ...DISPUTE,
    path: OPERATOR_DISPUTE_PATHS.messages,
    asked: 'dispute.message_requested',
    done: 'dispute.message_sent',
    toBody: ({ account_id: accountId }): z.input<typeof SendMessageBody> => {
      const key = readOptionalIdempotencyKey(request.raw.rawHeaders);
      if (key === null) return { message_id: newId(), body: readBody(MessageBody, request) };
      const message_id = deriveResourceId(accountId, 'message', key);
      return { message_id, body: sent.body };
    },
  });
  // The owner only sees that there is no body; the gateway knows what was wrong with it.
  if (answer.status === 400 && sent.body === null) throw sent.fault;
  return answer;
}

/** What the operator wrote where the body is one JSON object, else what is wrong with it. */
function readSent(
  request: FastifyRequest,
): { body: { message?: unknown } } | { body: null; fault: AppError } {
  try {
    const { message } = readJsonBody(request);
    return { body: { message } };
  } catch (error) {
    if (error instanceof AppError) return { body: null, fault: error };
    throw error;
  }
}
