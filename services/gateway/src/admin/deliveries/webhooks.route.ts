import { OPERATOR_DELIVERY_PATHS } from '@pixmesh/contracts/internal/operator-deliveries';
import type { ApplicationId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { findApplication } from '#admin/applications/applications.sql.ts';
import { buildUpstreamPath } from '#forwarding/build-upstream-path.ts';
import { relayAnswer } from '#forwarding/forwardable-answer.ts';

import { callOwner, type OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { registerOwnedChange } from '../owners/owned-change.route.ts';
import { readSentBody, wrapBody } from '../owners/sent-body.ts';
import { found, requirePathId } from '../read-request.ts';

const WEBHOOK = {
  owner: 'webhook-dispatcher',
  kind: 'webhook',
  get: OPERATOR_DELIVERY_PATHS.getWebhook,
  schema: z.object({ id: z.uuid() }),
} as const;

/** The endpoints of `/v1/webhooks` as operators see and change them. */
export function registerWebhooks(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  app.get('/admin/applications/:id/webhooks', async (request, reply) => {
    const { id } = found(await findApplication(deps.db, requirePathId(request) as ApplicationId));
    const path = buildUpstreamPath(OPERATOR_DELIVERY_PATHS.listWebhooks, { id }, '');
    return relayAnswer(
      reply,
      await callOwner(deps, WEBHOOK.owner, { request, method: 'GET', path }),
    );
  });
  // The owner validates the body as that of `PATCH /v1/webhooks/{id}`, after its look-up (decision 155).
  registerOwnedChange(app, deps, {
    ...WEBHOOK,
    method: 'PATCH',
    url: '/admin/webhooks/:id',
    takesBody: true,
    path: OPERATOR_DELIVERY_PATHS.changeWebhook,
    asked: 'webhook.change_requested',
    done: 'webhook.changed',
    // How it does changes with every delivery.
    auditedOf: ({ health: _health, ...endpoint }) => endpoint,
    toBody: (_webhook, request) => {
      const sent = readSentBody(request);
      if (sent.fault !== null) throw sent.fault;
      return wrapBody(sent.text, {});
    },
  });
  registerOwnedChange(app, deps, {
    ...WEBHOOK,
    url: '/admin/webhooks/:id/test',
    path: OPERATOR_DELIVERY_PATHS.testWebhook,
    asked: 'webhook.test_requested',
    done: 'webhook.test_queued',
  });
}
