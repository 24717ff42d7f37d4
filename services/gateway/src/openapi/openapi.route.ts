import { buildPublicDocument } from '@pixmesh/contracts/openapi/build-public-document';
import { JSON_TYPE } from '@pixmesh/http/json-type';
import type { FastifyInstance } from 'fastify';

import { sendStatic, toStaticAnswer } from './static-answer.ts';

/** Stands beside `/v1`, without a key (decision 224). */
const OPENAPI_PATH = '/openapi.json';

/**
 * `GET /openapi.json`, for anybody; built once, as the process starts.
 *
 * Like every request without an accepted key it is counted, and the request log has a sample: no exception has to be
 * explained.
 */
export function registerOpenApi(app: FastifyInstance): void {
  const document = toStaticAnswer(JSON.stringify(buildPublicDocument()), {
    'content-type': JSON_TYPE,
  });
  app.get(OPENAPI_PATH, async (request, reply) => sendStatic(request, reply, await document));
}
