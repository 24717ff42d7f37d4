import { createServiceApp } from '@pixmesh/http/service-app';
import type { FastifyInstance } from 'fastify';

import { stampAnswers } from '#edge/stamp-answers.ts';
import { type PublicRouteDeps, registerPublicRoutes } from '#forwarding/register-public-route.ts';
import { recordRequests } from '#request-log/record-requests.ts';
import type { RequestLog } from '#request-log/request-log.ts';

/** Listener 1: what merchants see. */
export function buildPublicApp(
  deps: PublicRouteDeps & { requestLog: RequestLog },
): FastifyInstance {
  const app = createServiceApp({ logger: deps.logger, listener: 'public' });
  stampAnswers(app);
  recordRequests(app, deps.requestLog);
  registerPublicRoutes(app, deps);
  return app;
}
