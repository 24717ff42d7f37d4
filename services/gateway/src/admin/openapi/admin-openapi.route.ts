import { buildAdminDocument } from '@pixmesh/contracts/openapi/build-admin-document';
import { JSON_TYPE } from '@pixmesh/http/json-type';
import type { FastifyInstance } from 'fastify';

import { sendStatic, toStaticAnswer } from '#openapi/static-answer.ts';

/**
 * `GET /openapi.json` of the admin listener, for anybody who reaches it: its page asks for it, a browser sends no token
 * with that, and what it says stands in the repository (ADR 0021). Every route that it describes needs a token.
 */
export function registerAdminOpenApi(app: FastifyInstance): void {
  const document = toStaticAnswer(JSON.stringify(buildAdminDocument()), {
    'content-type': JSON_TYPE,
  });
  app.get('/openapi.json', async (request, reply) => sendStatic(request, reply, await document));
}
