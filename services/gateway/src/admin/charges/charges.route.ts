import {
  type CancelChargeBody,
  OPERATOR_CHARGE_PATHS,
} from '@pixmesh/contracts/internal/operator-charges';
import { ignoreBodies } from '@pixmesh/http/service-app';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { type ForwardableAnswer, relayAnswer } from '#forwarding/forwardable-answer.ts';

import { operatorIdOf } from '../authenticate-operator.ts';
import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { changeOwned } from '../owners/change-owned.ts';
import { createOfAccount } from '../owners/create-owned.ts';
import { refundCharge } from './refund-charge.ts';

/** A charge of the checkout: announced, and invisible to `/v1` (decisions 97, 178). */
const REQUESTED = {
  owner: 'charges',
  kind: 'charge',
  path: OPERATOR_CHARGE_PATHS.request,
  asked: 'charge.creation_requested',
  done: 'charge.created',
} as const;

const OpenCharge = z.object({ id: z.uuid(), status: z.string() });
/** What may still be canceled, or come to be so while we ask; no charge comes back to these. */
const OPEN: ReadonlySet<string> = new Set(['processing', 'pending', 'expired']);

/** What operators do with charges: request one for a checkout, cancel, refund. Reads are forwarded as they are. */
export function registerCharges(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  app.post('/admin/accounts/:id/charges', async (request, reply) =>
    relayAnswer(reply, await createOfAccount(deps, request, REQUESTED)),
  );
  app.register(async (bodiless) => {
    ignoreBodies(bodiless);
    bodiless.post('/admin/charges/:id/cancel', async (request, reply) =>
      relayAnswer(reply, await cancelCharge(deps, request)),
    );
  });
  app.post('/admin/charges/:id/refunds', async (request, reply) =>
    relayAnswer(reply, await refundCharge(deps, request)),
  );
}

/** Never once a Pix has been accepted: the acquirer arbitrates that race, and the owner asks it (decision 75). */
async function cancelCharge(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
): Promise<ForwardableAnswer> {
  return await changeOwned(deps, request, {
    owner: 'charges',
    kind: 'charge',
    get: OPERATOR_CHARGE_PATHS.get,
    path: OPERATOR_CHARGE_PATHS.cancel,
    schema: OpenCharge,
    asked: 'charge.cancellation_requested',
    done: 'charge.canceled',
    mayChange: ({ status }) => OPEN.has(status),
    toBody: (): CancelChargeBody => ({ operator_id: operatorIdOf(request) }),
  });
}
