import { buildAdminDocument } from '@pixmesh/contracts/openapi/build-admin-document';
import type { FastifyInstance } from 'fastify';

import { sendStatic, toStaticAnswer } from '#openapi/static-answer.ts';

/**
 * `GET /openapi.json` of the admin listener. With a token, like everything there: the listener has one rule and no
 * exception, and whoever may not call its routes has no use for them.
 */
export function registerAdminOpenApi(app: FastifyInstance): void {
  const document = toStaticAnswer(JSON.stringify(buildAdminDocument()), {
    'content-type': 'application/json; charset=utf-8',
  });
  app.get('/openapi.json', async (request, reply) => sendStatic(request, reply, await document));
}
