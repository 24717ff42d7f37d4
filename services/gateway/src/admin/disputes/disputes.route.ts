import {
  DefenseBody,
  MessageBody,
  OPERATOR_DISPUTE_PATHS,
  type SendDefenseBody,
  type SendMessageBody,
} from '@pixmesh/contracts/internal/operator-disputes';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { type ForwardableAnswer, relayAnswer } from '#forwarding/judge-answer.ts';

import { operatorIdOf } from '../authenticate-operator.ts';
import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { changeOwned } from '../owners/change-owned.ts';
import { readBody } from '../read-request.ts';

const DISPUTE = {
  owner: 'charges',
  kind: 'dispute',
  get: OPERATOR_DISPUTE_PATHS.get,
  schema: z.object({ id: z.uuid(), status: z.string() }),
} as const;

/** What operators do with disputes: defend, and write into their chat. Reads are forwarded as they are. */
export function registerDisputes(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  app.post('/admin/disputes/:id/defense', async (request, reply) =>
    relayAnswer(reply, await sendDefense(deps, request)),
  );
  app.post('/admin/disputes/:id/messages', async (request, reply) =>
    relayAnswer(reply, await sendMessage(deps, request)),
  );
}

/** While the dispute is open; it never opens again. */
async function sendDefense(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  return await changeOwned(deps, request, {
    ...DISPUTE,
    path: OPERATOR_DISPUTE_PATHS.defense,
    asked: 'dispute.defense_requested',
    done: 'dispute.defended',
    mayChange: ({ status }) => status === 'open',
    toBody: (): SendDefenseBody => ({
      operator_id: operatorIdOf(request),
      ...readBody(DefenseBody, request),
    }),
  });
}

/** The platform's word, announced as `dispute.pix.message` (decision 189); in any state of the dispute. */
async function sendMessage(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  return await changeOwned(deps, request, {
    ...DISPUTE,
    path: OPERATOR_DISPUTE_PATHS.messages,
    asked: 'dispute.message_requested',
    done: 'dispute.message_sent',
    toBody: (): SendMessageBody => ({
      operator_id: operatorIdOf(request),
      ...readBody(MessageBody, request),
    }),
  });
}
