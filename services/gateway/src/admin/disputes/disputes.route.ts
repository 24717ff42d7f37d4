import { DefenseBody, OPERATOR_DISPUTE_PATHS } from '@pixmesh/contracts/internal/operator-disputes';
import { readBody } from '@pixmesh/http/json-request';
import type { FastifyInstance } from 'fastify';

import { relayAnswer } from '#forwarding/forwardable-answer.ts';

import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { registerOwnedChange } from '../owners/owned-change.route.ts';
import { DISPUTE } from './owned-dispute.ts';
import { sendMessage } from './send-message.ts';

/** What operators do with disputes: defend, and write into their chat. Reads are forwarded as they are. */
export function registerDisputes(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  registerOwnedChange(app, deps, {
    ...DISPUTE,
    url: '/admin/disputes/:id/defense',
    takesBody: true,
    path: OPERATOR_DISPUTE_PATHS.defense,
    asked: 'dispute.defense_requested',
    done: 'dispute.defended',
    // It never opens again.
    mayChange: ({ status }) => status === 'open',
    toBody: (_dispute, request) => readBody(DefenseBody, request),
  });
  app.post('/admin/disputes/:id/messages', async (request, reply) =>
    relayAnswer(reply, await sendMessage(deps, request)),
  );
}
