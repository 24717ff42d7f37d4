import { registerDeadLetterRoutes } from '@pixmesh/http/dead-letter-routes';
import { requireServiceToken } from '@pixmesh/http/internal-auth';
import { createServiceApp } from '@pixmesh/http/service-app';
import type { VerifyToken } from '@pixmesh/http/service-token';
import type { Messaging } from '@pixmesh/kafka/messaging';
import type { Reconciliation } from '@pixmesh/reconciliation/reconciliation';
import { registerReconciliationRoutes } from '@pixmesh/reconciliation/reconciliation-routes';
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
    verify: VerifyToken;
    deadLetters: Messaging['deadLetters'];
    reconciliation: Pick<Reconciliation, 'latest' | 'runNow' | 'requestFull'>;
  };

/** The HTTP surface of the service: called by the gateway only. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const app = createServiceApp({ logger: deps.logger, listener: 'internal' });
  requireServiceToken(app, deps.verify);
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
