import { EVENT_CATALOGUE } from '@pixmesh/contracts/events/event-catalogue';
import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import type { FastifyInstance } from 'fastify';

const CATALOGUE = { object: 'list', data: EVENT_CATALOGUE, has_more: false };

/** `GET /v1/webhooks/events`: every event of the platform, in the specification's order (decision 145). */
export function registerListWebhookEvents(app: FastifyInstance): void {
  app.get(PUBLIC_ROUTES.listWebhookEvents.path, async () => CATALOGUE);
}
