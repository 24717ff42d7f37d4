import { registerDeadLetterRoutes } from '@pixmesh/http/dead-letter-routes';
import { INTERNAL_ROUTES } from '@pixmesh/contracts/internal/internal-routes';
import { guardRoutes } from '@pixmesh/http/internal-auth';
import type { Peers } from '@pixmesh/http/peers';
import { createServiceApp } from '@pixmesh/http/service-app';
import type { Consumers } from '@pixmesh/kafka/consumers';
import type { Database } from '@pixmesh/postgres/pool';
import {
  registerReconciliationRoutes,
  type RoutedReconciliation,
} from '@pixmesh/reconciliation/reconciliation-routes';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';

import { registerGetBalance } from '#accounts/get-balance.route.ts';
import { registerGetBalances } from '#accounts/get-balances.route.ts';
import type { LedgerEngine } from '#engine/ledger-engine.ts';
import { registerListHolds } from '#holds/list-holds.route.ts';
import { registerTakeHold } from '#holds/take-hold.route.ts';
import { registerVoidHold } from '#holds/void-hold.route.ts';
import { registerBookedJournals } from '#journals/booked-journals.route.ts';
import { registerListJournals } from '#journals/list-journals.route.ts';
import { registerListSuspense } from '#suspense/list-suspense.route.ts';

type AppDeps = {
  logger: Logger;
  peers: Peers;
  db: Database;
  engine: LedgerEngine;
  deadLetters: Consumers['deadLetters'];
  reconciliation: RoutedReconciliation;
};

/** The HTTP surface of the service: called by peers only. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const app = createServiceApp({
    logger: deps.logger,
    listener: 'internal',
    mutualTls: deps.peers.tls,
  });
  guardRoutes(app, INTERNAL_ROUTES.ledger, deps.peers);
  registerGetBalance(app, deps);
  registerGetBalances(app, deps);
  registerListJournals(app, deps);
  registerBookedJournals(app, deps);
  registerTakeHold(app, deps);
  registerVoidHold(app, deps);
  registerListHolds(app, deps);
  registerListSuspense(app, deps);
  registerDeadLetterRoutes(app, deps.deadLetters);
  registerReconciliationRoutes(app, deps.reconciliation);
  return app;
}
