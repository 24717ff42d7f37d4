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

import { registerCancelCharge } from '#cancellation/cancel-charge.route.ts';
import type { CreateChargeDeps } from '#charge/creation/create-charge.ts';
import type { DefenseDeps } from '#disputes/send-defense.ts';
import { registerCreateCharge } from '#charge/creation/create-charge.route.ts';
import { registerOperatorDisputes } from '#disputes/operator-disputes.route.ts';
import { registerOperatorCharges } from '#charge/operators/operator-charges.route.ts';
import { registerGetCharge } from '#charge/reads/get-charge.route.ts';
import { registerListCharges } from '#charge/reads/list-charges.route.ts';
import { registerOperatorRefunds } from '#refunds/operator-refunds.route.ts';
import type { RequestRefundDeps } from '#refunds/request-refund.ts';
import { registerCheckNow } from '#status-check/check-now.route.ts';
import type { StatusCheckDeps } from '#status-check/status-check.job.ts';
import { registerResolveSuspense } from '#suspense/resolve-suspense.route.ts';
import type { ResolveSuspenseDeps } from '#suspense/resolve-suspense.ts';
import { registerChargeTimeline } from '#timeline/charge-timeline.route.ts';

type AppDeps = CreateChargeDeps &
  DefenseDeps &
  RequestRefundDeps &
  ResolveSuspenseDeps &
  StatusCheckDeps & {
    peers: Peers;
    deadLetters: Consumers['deadLetters'];
    reconciliation: RoutedReconciliation;
    requestTimeoutMs: number;
  };

/** The HTTP surface of the service: called by the gateway only. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const app = createServiceApp({
    logger: deps.logger,
    listener: 'internal',
    mutualTls: deps.peers.tls,
  });
  guardRoutes(app, INTERNAL_ROUTES.charges, deps.peers);
  registerCreateCharge(app, deps);
  registerGetCharge(app, deps);
  registerListCharges(app, deps);
  registerOperatorCharges(app, deps);
  registerOperatorDisputes(app, deps);
  registerCancelCharge(app, deps);
  registerCheckNow(app, deps);
  registerOperatorRefunds(app, deps);
  registerResolveSuspense(app, deps);
  registerChargeTimeline(app, deps);
  registerDeadLetterRoutes(app, deps.deadLetters);
  registerReconciliationRoutes(app, deps.reconciliation);
  return app;
}
