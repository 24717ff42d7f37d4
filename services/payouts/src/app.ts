import { registerDeadLetterRoutes } from '@pixmesh/http/dead-letter-routes';
import { INTERNAL_ROUTES } from '@pixmesh/contracts/internal/internal-routes';
import { guardRoutes } from '@pixmesh/http/internal-auth';
import type { Peers } from '@pixmesh/http/peers';
import { createServiceApp } from '@pixmesh/http/service-app';
import type { Consumers } from '@pixmesh/kafka/consumers';
import {
  registerReconciliationRoutes,
  type RoutedReconciliation,
} from '@pixmesh/reconciliation/reconciliation-routes';
import type { FastifyInstance } from 'fastify';

import type { CreatePayoutDeps } from '#creation/create-payout.ts';
import { registerCreatePayout } from '#creation/create-payout.route.ts';
import { registerOperatorPayouts } from '#operators/operator-payouts.route.ts';
import { registerGetPayout } from '#reads/get-payout.route.ts';
import { registerListPayouts } from '#reads/list-payouts.route.ts';
import { registerPayoutStops } from '#stops/payout-stops.route.ts';
import { type CheckNowDeps, registerCheckNow } from '#status-check/check-now.route.ts';
import { registerResolveSuspense } from '#suspense/resolve-suspense.route.ts';
import { registerPayoutTimeline } from '#timeline/payout-timeline.route.ts';

type AppDeps = CreatePayoutDeps &
  CheckNowDeps & {
    peers: Peers;
    deadLetters: Consumers['deadLetters'];
    reconciliation: RoutedReconciliation;
  };

/** The HTTP surface of the service: called by the gateway only. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const app = createServiceApp({
    logger: deps.logger,
    listener: 'internal',
    mutualTls: deps.peers.tls,
  });
  guardRoutes(app, INTERNAL_ROUTES.payouts, deps.peers);
  registerCreatePayout(app, deps);
  registerGetPayout(app, deps);
  registerListPayouts(app, deps);
  registerOperatorPayouts(app, deps);
  registerPayoutStops(app, deps);
  registerCheckNow(app, deps);
  registerResolveSuspense(app, deps);
  registerPayoutTimeline(app, deps);
  registerDeadLetterRoutes(app, deps.deadLetters);
  registerReconciliationRoutes(app, deps.reconciliation);
  return app;
}
