import type { FastifyInstance } from 'fastify';

import type { WriteEndpointDeps } from './create-endpoint.ts';
import { registerCreateWebhook } from './create-webhook.route.ts';
import { registerDeleteWebhook } from './delete-webhook.route.ts';
import { registerListWebhookEvents } from './list-webhook-events.route.ts';
import { registerListWebhooks } from './list-webhooks.route.ts';
import { registerUpdateWebhook } from './update-webhook.route.ts';

/** The public routes of registered endpoints and of the catalogue that they choose from. */
export function registerEndpointRoutes(app: FastifyInstance, deps: WriteEndpointDeps): void {
  registerListWebhooks(app, deps);
  registerCreateWebhook(app, deps);
  registerUpdateWebhook(app, deps);
  registerDeleteWebhook(app, deps);
  registerListWebhookEvents(app);
}
