import { createServiceApp, EDGE_HEADER_BYTES_MAX } from '@pixmesh/http/service-app';
import type { FastifyInstance } from 'fastify';

import { type Edge, guardListener } from '#edge/guard-listener.ts';
import { answerOtherOrigins } from '#edge/other-origins.ts';
import { requestIdOf } from '#edge/stamp-answers.ts';
import { type PublicRouteDeps, registerPublicRoutes } from '#forwarding/register-public-route.ts';
import { registerGuides } from '#guides/guides.route.ts';
import { registerOpenApi } from '#openapi/openapi.route.ts';
import { registerReferencePage } from '#openapi/reference-page.route.ts';
import { recordRequests } from '#request-log/record-requests.ts';
import type { RequestLog } from '#request-log/request-log.ts';
import { registerSecurityTxt } from '#security-txt/security-txt.route.ts';
import type { SecurityTxt } from '#security-txt/security-txt.ts';

/** Listener 1: what merchants see. */
export function buildPublicApp(
  deps: PublicRouteDeps & {
    requestLog: RequestLog;
    securityTxt: SecurityTxt | null;
    edge: Edge;
  },
): FastifyInstance {
  const app = createServiceApp({
    logger: deps.logger,
    listener: 'public',
    headerBytesMax: EDGE_HEADER_BYTES_MAX,
    requestIdOf: (_request, reply) => requestIdOf(reply),
    ...recordRequests(deps.requestLog),
  });
  guardListener(app, 'public', deps.edge);
  answerOtherOrigins(app, deps.edge.origins);
  registerPublicRoutes(app, deps);
  registerOpenApi(app);
  registerReferencePage(app, 'Pix Charges and Payouts API');
  registerGuides(app, 'guides/merchants');
  registerSecurityTxt(app, deps.securityTxt);
  return app;
}
