import {
  type ActBody,
  OPERATOR_DELIVERY_PATHS,
} from '@pixmesh/contracts/internal/operator-deliveries';
import { ignoreBodies } from '@pixmesh/http/service-app';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { type ForwardableAnswer, relayAnswer } from '#forwarding/forwardable-answer.ts';

import { operatorIdOf } from '../authenticate-operator.ts';
import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { changeOwned } from '../owners/change-owned.ts';
import { requestRecovery } from './request-recovery.ts';

/** What operators do with deliveries: re-send one, or recover many. Reads are forwarded as they are. */
export function registerDeliveries(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  app.post('/admin/recoveries', async (request, reply) =>
    relayAnswer(reply, await requestRecovery(deps, request)),
  );
  app.register(async (bodiless) => {
    ignoreBodies(bodiless);
    bodiless.post('/admin/deliveries/:id/resend', async (request, reply) =>
      relayAnswer(reply, await resend(deps, request)),
    );
    bodiless.post('/admin/recoveries/:id/cancel', async (request, reply) =>
      relayAnswer(reply, await cancelRecovery(deps, request)),
    );
  });
}

/** Each call is one more request to the receiver: there is nothing to repeat (decision 201). */
async function resend(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  return await changeOwned(deps, request, {
    owner: 'webhook-dispatcher',
    kind: 'delivery',
    get: OPERATOR_DELIVERY_PATHS.getDelivery,
    path: OPERATOR_DELIVERY_PATHS.resend,
    schema: z.object({ id: z.uuid() }),
    asked: 'delivery.resend_requested',
    done: 'delivery.resend_queued',
    toBody: (): ActBody => ({ operator_id: operatorIdOf(request) }),
  });
}

/** While it runs; one that is over stays as it ended, as its owner answers. */
async function cancelRecovery(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  return await changeOwned(deps, request, {
    owner: 'webhook-dispatcher',
    kind: 'recovery',
    get: OPERATOR_DELIVERY_PATHS.getRecovery,
    path: OPERATOR_DELIVERY_PATHS.cancelRecovery,
    schema: z.object({ id: z.uuid(), status: z.string() }),
    asked: 'recovery.cancellation_requested',
    done: 'recovery.canceled',
    mayChange: ({ status }) => status === 'running' || status === 'sending',
    toBody: (): ActBody => ({ operator_id: operatorIdOf(request) }),
  });
}
