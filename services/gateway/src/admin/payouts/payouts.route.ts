import type { FastifyInstance } from 'fastify';

import { relayAnswer } from '#forwarding/judge-answer.ts';

import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { approvePayout, cancelPayout } from './decide-payout.ts';
import { requestPayout } from './request-payout.ts';

/** What operators do with payouts: request, approve, cancel. Reads are forwarded as they are. */
export function registerPayouts(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  app.post('/admin/accounts/:id/payouts', async (request, reply) =>
    relayAnswer(reply, await requestPayout(deps, request)),
  );
  app.post('/admin/payouts/:id/approve', async (request, reply) =>
    relayAnswer(reply, await approvePayout(deps, request)),
  );
  app.post('/admin/payouts/:id/cancel', async (request, reply) =>
    relayAnswer(reply, await cancelPayout(deps, request)),
  );
}
