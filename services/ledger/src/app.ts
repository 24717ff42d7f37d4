import { registerDeadLetterRoutes } from '@pixmesh/http/dead-letter-routes';
import { requireServiceToken } from '@pixmesh/http/internal-auth';
import { createServiceApp } from '@pixmesh/http/service-app';
import type { VerifyToken } from '@pixmesh/http/service-token';
import type { Messaging } from '@pixmesh/kafka/messaging';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';

import { registerGetBalance } from '#accounts/get-balance.route.ts';
import { registerListJournals } from '#journals/list-journals.route.ts';

type AppDeps = {
  logger: Logger;
  verify: VerifyToken;
  db: Database;
  deadLetters: Messaging['deadLetters'];
};

/** The HTTP surface of the service: called by the gateway only. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const app = createServiceApp({ logger: deps.logger, listener: 'internal' });
  requireServiceToken(app, deps.verify);
  registerGetBalance(app, deps);
  registerListJournals(app, deps);
  registerDeadLetterRoutes(app, deps.deadLetters);
  return app;
}
