import { createServiceApp, EDGE_HEADER_BYTES_MAX } from '@pixmesh/http/service-app';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';

import { registerAccounts } from '#admin/accounts/accounts.route.ts';
import { type LimitsDeps, registerLimits } from '#admin/accounts/limits.route.ts';
import {
  type ApplicationDeps,
  registerApplications,
} from '#admin/applications/applications.route.ts';
import { registerListAudit } from '#admin/audit/list-audit.route.ts';
import { type OperatorAuthDeps, requireOperator } from '#admin/authenticate-operator.ts';
import { registerCharges } from '#admin/charges/charges.route.ts';
import { type LettersDeps, registerDeadLetters } from '#admin/dead-letters/dead-letters.route.ts';
import { registerDeliveries } from '#admin/deliveries/deliveries.route.ts';
import { registerWebhooks } from '#admin/deliveries/webhooks.route.ts';
import { registerDisputes } from '#admin/disputes/disputes.route.ts';
import type { KeyDeps } from '#admin/keys/create-key.ts';
import { registerKeys } from '#admin/keys/keys.route.ts';
import { registerAdminOpenApi } from '#admin/openapi/admin-openapi.route.ts';
import { registerOperators } from '#admin/operators/operators.route.ts';
import { registerForwardedReads } from '#admin/owners/forwarded-reads.route.ts';
import { registerPayoutStops } from '#admin/payouts/payout-stops.route.ts';
import { registerPayouts } from '#admin/payouts/payouts.route.ts';
import {
  type ReconciliationDeps,
  registerReconciliation,
} from '#admin/reconciliation/reconciliation.route.ts';
import { reportMismatches } from '#admin/report-mismatches.ts';
import { registerListRequests } from '#admin/requests/list-requests.route.ts';
import { registerSuspense } from '#admin/suspense/suspense.route.ts';
import { registerTimelines } from '#admin/timelines/timelines.route.ts';
import { type Edge, guardListener } from '#edge/guard-listener.ts';
import { requestIdOf } from '#edge/stamp-answers.ts';
import { registerGuides } from '#guides/guides.route.ts';
import { registerReferencePage } from '#openapi/reference-page.route.ts';

type AdminDeps = OperatorAuthDeps &
  ApplicationDeps &
  KeyDeps &
  ReconciliationDeps &
  LettersDeps &
  LimitsDeps & {
    /** Of the audit log and the request log alone. */
    logs: Database;
    logger: Logger;
    edge: Edge;
  };

/** Listener 2: what operators see. */
export function buildAdminApp(deps: AdminDeps): FastifyInstance {
  const app = createServiceApp({
    logger: deps.logger,
    listener: 'admin',
    headerBytesMax: EDGE_HEADER_BYTES_MAX,
    requestIdOf: (_request, reply) => requestIdOf(reply),
  });
  guardListener(app, 'admin', deps.edge);
  // A context of its own, so that unknown routes answer 404 and 405 without a token (decision 254).
  app.register(async (routes) => {
    requireOperator(routes, deps);
    reportMismatches(routes, deps.logger);
    registerOperators(routes, deps);
    registerListAudit(routes, { db: deps.logs });
    registerAccounts(routes, deps);
    registerLimits(routes, deps);
    registerApplications(routes, deps);
    registerKeys(routes, deps);
    registerListRequests(routes, { db: deps.logs });
    registerForwardedReads(routes, deps);
    registerCharges(routes, deps);
    registerPayouts(routes, deps);
    registerPayoutStops(routes, deps);
    registerDisputes(routes, deps);
    registerSuspense(routes, deps);
    registerWebhooks(routes, deps);
    registerDeliveries(routes, deps);
    registerTimelines(routes, deps);
    registerReconciliation(routes, deps);
    registerDeadLetters(routes, deps);
  });
  registerAdminOpenApi(app);
  registerReferencePage(app, 'Pixmesh Admin API');
  registerGuides(app, 'guides');
  return app;
}
