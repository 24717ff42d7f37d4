import {
  DefenseBody,
  OPERATOR_DISPUTE_PATHS,
  type SendDefenseBody,
} from '@pixmesh/contracts/internal/operator-disputes';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { type ForwardableAnswer, relayAnswer } from '#forwarding/forwardable-answer.ts';

import { operatorIdOf } from '../authenticate-operator.ts';
import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { changeOwned } from '../owners/change-owned.ts';
import { readBody } from '../read-request.ts';
import { DISPUTE } from './owned-dispute.ts';
import { sendMessage } from './send-message.ts';

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
