import { registerDeadLetterRoutes } from '@pixmesh/http/dead-letter-routes';
import { INTERNAL_ROUTES } from '@pixmesh/contracts/internal/internal-routes';
import { guardRoutes } from '@pixmesh/http/internal-auth';
import type { Peers } from '@pixmesh/http/peers';
import { createServiceApp } from '@pixmesh/http/service-app';
import type { Consumers } from '@pixmesh/kafka/consumers';
import type { Reconciliation } from '@pixmesh/reconciliation/reconciliation';
import { registerReconciliationRoutes } from '@pixmesh/reconciliation/reconciliation-routes';
import type { FastifyInstance } from 'fastify';

import { registerCompareApplications } from '#applications/compare-applications.route.ts';
import type { WriteEndpointDeps } from '#endpoints/create-endpoint.ts';
import { registerWebhooks } from '#endpoints/webhooks.route.ts';
import type { CompareEventsDeps } from '#intake/compare-events.ts';
import { registerCompareEvents } from '#intake/compare-events.route.ts';
import { registerAccountUse } from '#operators/account-use.route.ts';
import { registerOperatorDeliveries } from '#operators/operator-deliveries.route.ts';
import { registerOperatorWebhooks } from '#operators/operator-webhooks.route.ts';
import { registerRecoveries } from '#recoveries/recoveries.route.ts';
import { type DispatchersDeps, registerDispatchers } from '#processes/dispatchers.route.ts';
import { registerTimeline } from '#timeline/timeline.route.ts';

type AppDeps = WriteEndpointDeps &
  DispatchersDeps &
  Omit<CompareEventsDeps, 'db'> & {
    peers: Peers;
    deadLetters: Consumers['deadLetters'];
    reconciliation: Reconciliation;
  };

/** The listener of the api role, for peers only. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const app = createServiceApp({
    logger: deps.logger,
    listener: 'internal',
    mutualTls: deps.peers.tls,
  });
  guardRoutes(app, INTERNAL_ROUTES['webhook-dispatcher'], deps.peers);
  registerWebhooks(app, deps);
  registerDeadLetterRoutes(app, deps.deadLetters);
  registerOperatorWebhooks(app, deps);
  registerOperatorDeliveries(app, deps);
  registerRecoveries(app, deps);
  registerAccountUse(app, deps);
  registerTimeline(app, deps);
  registerDispatchers(app, deps);
  registerCompareEvents(app, deps);
  registerCompareApplications(app, deps);
  registerReconciliationRoutes(app, deps.reconciliation);
  return app;
}
