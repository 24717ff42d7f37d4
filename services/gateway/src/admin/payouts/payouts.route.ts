import { OPERATOR_PAYOUT_PATHS } from '@pixmesh/contracts/internal/operator-payouts';
import { ignoreBodies } from '@pixmesh/http/service-app';
import type { FastifyInstance } from 'fastify';

import { relayAnswer } from '#forwarding/forwardable-answer.ts';

import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { createOfAccount } from '../owners/create-owned.ts';
import { approvePayout, cancelPayout } from './decide-payout.ts';

/** A payout that waits for a second operator. */
const REQUESTED = {
  owner: 'payouts',
  kind: 'payout',
  path: OPERATOR_PAYOUT_PATHS.request,
  asked: 'payout.creation_requested',
  done: 'payout.created',
} as const;

/** What operators do with payouts: request, approve, cancel. Reads are forwarded as they are. */
export function registerPayouts(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  app.post('/admin/accounts/:id/payouts', async (request, reply) =>
    relayAnswer(reply, await createOfAccount(deps, request, REQUESTED)),
  );
  app.register(async (bodiless) => {
    ignoreBodies(bodiless);
    bodiless.post('/admin/payouts/:id/approve', async (request, reply) =>
      relayAnswer(reply, await approvePayout(deps, request)),
    );
    bodiless.post('/admin/payouts/:id/cancel', async (request, reply) =>
      relayAnswer(reply, await cancelPayout(deps, request)),
    );
  });
}
