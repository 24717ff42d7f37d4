import { OPERATOR_DELIVERY_PATHS } from '@pixmesh/contracts/internal/operator-deliveries';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { relayAnswer } from '#forwarding/forwardable-answer.ts';

import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { registerOwnedChange } from '../owners/owned-change.route.ts';
import { requestRecovery } from './request-recovery.ts';

/** What operators do with deliveries: re-send one, or recover many. Reads are forwarded as they are. */
export function registerDeliveries(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  app.post('/admin/recoveries', async (request, reply) =>
    relayAnswer(reply, await requestRecovery(deps, request)),
  );
  // Each call is one more request to the receiver: there is nothing to repeat (decision 201).
  registerOwnedChange(app, deps, {
    url: '/admin/deliveries/:id/resend',
    owner: 'webhook-dispatcher',
    kind: 'delivery',
    get: OPERATOR_DELIVERY_PATHS.getDelivery,
    path: OPERATOR_DELIVERY_PATHS.resend,
    schema: z.object({ id: z.uuid() }),
    asked: 'delivery.resend_requested',
    done: 'delivery.resend_queued',
  });
  // While it runs; one that is over stays as it ended, as its owner answers.
  registerOwnedChange(app, deps, {
    url: '/admin/recoveries/:id/cancel',
    owner: 'webhook-dispatcher',
    kind: 'recovery',
    get: OPERATOR_DELIVERY_PATHS.getRecovery,
    path: OPERATOR_DELIVERY_PATHS.cancelRecovery,
    schema: z.object({ id: z.uuid(), status: z.string() }),
    asked: 'recovery.cancellation_requested',
    done: 'recovery.canceled',
    mayChange: ({ status }) => status === 'running' || status === 'sending',
  });
}
