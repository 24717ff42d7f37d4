import { registerDeadLetterRoutes } from '@pixmesh/http/dead-letter-routes';
import { requireServiceToken } from '@pixmesh/http/internal-auth';
import { createServiceApp } from '@pixmesh/http/service-app';
import type { VerifyToken } from '@pixmesh/http/service-token';
import type { Messaging } from '@pixmesh/kafka/messaging';
import type { FastifyInstance } from 'fastify';

import type { WriteEndpointDeps } from '#endpoints/create-endpoint.ts';
import { registerWebhooks } from '#endpoints/webhooks.route.ts';
import { registerOperatorDeliveries } from '#operators/operator-deliveries.route.ts';
import { registerOperatorWebhooks } from '#operators/operator-webhooks.route.ts';
import { registerRecoveries } from '#recoveries/recoveries.route.ts';
import { registerTimeline } from '#timeline/timeline.route.ts';

type AppDeps = WriteEndpointDeps & {
  verifyToken: VerifyToken;
  deadLetters: Messaging['deadLetters'];
};

/** The listener of the api role, for peers only. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const app = createServiceApp({ logger: deps.logger, listener: 'internal' });
  requireServiceToken(app, deps.verifyToken);
  registerWebhooks(app, deps);
  registerDeadLetterRoutes(app, deps.deadLetters);
  registerOperatorWebhooks(app, deps);
  registerOperatorDeliveries(app, deps);
  registerRecoveries(app, deps);
  registerTimeline(app, deps);
  return app;
}
