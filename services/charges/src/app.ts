import type { Receiver } from '@pixmesh/contracts/http/charge';
import { registerDeadLetterRoutes } from '@pixmesh/http/dead-letter-routes';
import { requireServiceToken } from '@pixmesh/http/internal-auth';
import { createServiceApp } from '@pixmesh/http/service-app';
import type { VerifyToken } from '@pixmesh/http/service-token';
import type { Messaging } from '@pixmesh/kafka/messaging';
import type { Database } from '@pixmesh/postgres/pool';
import type { Reconciliation } from '@pixmesh/reconciliation/reconciliation';
import { registerReconciliationRoutes } from '@pixmesh/reconciliation/reconciliation-routes';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';

import { registerCreateCharge } from '#creation/create-charge.route.ts';
import type { Issuing } from '#issuing/issuing.ts';
import { registerGetCharge } from '#reads/get-charge.route.ts';
import { registerListCharges } from '#reads/list-charges.route.ts';

type AppDeps = {
  logger: Logger;
  verify: VerifyToken;
  db: Database;
  issuing: Issuing;
  receiver: Receiver;
  deadLetters: Messaging['deadLetters'];
  reconciliation: Pick<Reconciliation, 'latest' | 'runNow'>;
  sealingPublicKey: string;
  leaseMs: number;
  requestTimeoutMs: number;
};

/** The HTTP surface of the service: called by the gateway only. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const app = createServiceApp({ logger: deps.logger, listener: 'internal' });
  requireServiceToken(app, deps.verify);
  registerCreateCharge(app, deps);
  registerGetCharge(app, deps);
  registerListCharges(app, deps);
  registerDeadLetterRoutes(app, deps.deadLetters);
  registerReconciliationRoutes(app, deps.reconciliation);
  return app;
}
