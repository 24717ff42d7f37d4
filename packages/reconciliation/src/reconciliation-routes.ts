import { RunReconciliationBody } from '@pixmesh/contracts/internal/reconciliation';
import { parseShape, readJsonObject } from '@pixmesh/http/json-request';
import { rawBody } from '@pixmesh/http/service-app';
import type { FastifyInstance } from 'fastify';

import { FULL_WAIT_MS, type Reconciliation } from './reconciliation.ts';

/** `/internal/reconciliation`: what the gateway joins at `/admin/reconciliation`. */
export function registerReconciliationRoutes(
  app: FastifyInstance,
  reconciliation: Pick<Reconciliation, 'latest' | 'runNow' | 'requestFull'>,
): void {
  app.get('/internal/reconciliation', () => reconciliation.latest());

  app.post('/internal/reconciliation', async (request) => {
    const bytes = rawBody(request.body);
    const body = bytes.length === 0 ? {} : readJsonObject(bytes, request.headers['content-type']);
    const { full } = parseShape(RunReconciliationBody, body);
    return full
      ? await reconciliation.requestFull({ waitMs: FULL_WAIT_MS })
      : await reconciliation.runNow();
  });
}
