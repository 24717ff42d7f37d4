import { OPERATOR_CHARGE_PATHS } from '@pixmesh/contracts/internal/operator-charges';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { relayAnswer } from '#forwarding/forwardable-answer.ts';

import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { checkedResource } from '../owners/checked-resource.ts';
import { createOfAccount } from '../owners/create-owned.ts';
import { registerOwnedChange } from '../owners/owned-change.route.ts';
import { refundCharge } from './refund-charge.ts';

/** A charge of the checkout: announced, and invisible to `/v1` (decisions 97, 178). */
const REQUESTED = {
  owner: 'charges',
  kind: 'charge',
  path: OPERATOR_CHARGE_PATHS.request,
  asked: 'charge.creation_requested',
  done: 'charge.created',
} as const;

/** What may still be canceled, or come to be so while we ask; no charge comes back to these. */
const OPEN: ReadonlySet<string> = new Set(['processing', 'pending', 'expired']);

/**
 * What operators do with charges: request one for a checkout, cancel, check, refund. Reads are forwarded as they are.
 */
export function registerCharges(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  app.post('/admin/accounts/:id/charges', async (request, reply) =>
    relayAnswer(reply, await createOfAccount(deps, request, REQUESTED)),
  );
  // Never once a Pix has been accepted: the acquirer arbitrates that race, and the owner asks it (decision 75).
  registerOwnedChange(app, deps, {
    url: '/admin/charges/:id/cancel',
    owner: 'charges',
    kind: 'charge',
    get: OPERATOR_CHARGE_PATHS.get,
    path: OPERATOR_CHARGE_PATHS.cancel,
    schema: z.object({ id: z.uuid(), status: z.string() }),
    asked: 'charge.cancellation_requested',
    done: 'charge.canceled',
    mayChange: ({ status }) => OPEN.has(status),
  });
  // The audit shows whether the check changed anything.
  registerOwnedChange(app, deps, {
    url: '/admin/charges/:id/check',
    owner: 'charges',
    kind: 'charge',
    get: OPERATOR_CHARGE_PATHS.get,
    path: OPERATOR_CHARGE_PATHS.check,
    schema: z.object({ id: z.uuid() }),
    asked: 'charge.check_requested',
    done: 'charge.checked',
    auditedOf: checkedResource,
  });
  app.post('/admin/charges/:id/refunds', async (request, reply) =>
    relayAnswer(reply, await refundCharge(deps, request)),
  );
}
