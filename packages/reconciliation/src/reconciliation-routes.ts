import { ACCOUNT_BREAKS_PATH } from '@pixmesh/contracts/internal/account-breaks';
import { RunReconciliationBody } from '@pixmesh/contracts/internal/reconciliation';
import { parseShape, readJsonObject } from '@pixmesh/http/json-request';
import { rawBody } from '@pixmesh/http/service-app';
import type { FastifyInstance } from 'fastify';

import type { Reconciliation } from './reconciliation.ts';

/** What the routes of a service need of its reconciliation. */
export type RoutedReconciliation = Pick<
  Reconciliation,
  'latest' | 'runNow' | 'requestFull' | 'accountBreaks'
>;

/** `/internal/reconciliation`: what the gateway joins at `/admin/reconciliation`; and what payouts asks for. */
export function registerReconciliationRoutes(
  app: FastifyInstance,
  reconciliation: RoutedReconciliation,
): void {
  app.get('/internal/reconciliation', () => reconciliation.latest());

  app.get(ACCOUNT_BREAKS_PATH, async () => ({ breaks: await reconciliation.accountBreaks() }));

  app.post('/internal/reconciliation', async (request) => {
    const bytes = rawBody(request.body);
    const body = bytes.length === 0 ? {} : readJsonObject(bytes, request.headers['content-type']);
    const { full } = parseShape(RunReconciliationBody, body);
    return full ? await reconciliation.requestFull() : await reconciliation.runNow();
  });
}
