import type { Claims } from '@pixmesh/contracts/internal/caller-claims';
import { encodeClaims } from '@pixmesh/contracts/internal/claims-header';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { InternalRoute } from '@pixmesh/contracts/internal/internal-routes';
import { createLogger } from '@pixmesh/telemetry/logger';
import { injectedPeers } from '@pixmesh/testkit/injected-peers';
import { aCaller, anOperator } from '@pixmesh/testkit/test-callers';
import { expect, test } from 'vitest';

import { guardRoutes, operatorOf, tenantOf } from './internal-auth.ts';
import { createServiceApp } from './service-app.ts';

const TABLE: readonly InternalRoute[] = [
  { method: 'GET', path: '/tenant', callers: ['gateway'], claims: 'tenant' },
  { method: 'GET', path: '/operator', callers: ['gateway', 'charges'], claims: 'operator' },
  { method: 'GET', path: '/own', callers: ['payouts'], claims: 'none' },
  { method: 'GET', path: '/job', callers: ['gateway'], claims: 'none' },
];
const [TENANT, OPERATOR] = [{ tenant: aCaller() }, anOperator()];

const app = anApp();
app.get('/tenant', async (request) => tenantOf(request));
app.get('/operator', async (request) => request.claims ?? {});
app.get('/own', async (request) => operatorOf(request));
app.get('/job', async () => ({}));

test('who acts is whom the gateway names', async () => {
  expect((await call('/tenant', 'gateway', TENANT)).json()).toEqual(TENANT.tenant);
  expect((await call('/operator', 'gateway', OPERATOR)).json()).toEqual(OPERATOR);
});

test('a service calls for itself, and nobody stands behind it', async () => {
  expect((await call('/operator', 'charges', null)).json()).toEqual({});
  expect((await call('/own', 'payouts', null)).statusCode).toBe(401);
  expect((await call('/job', 'gateway', null)).statusCode).toBe(200);
});

test.each<[string, string, string | null, Claims | null]>([
  ['a caller that the table does not name', '/own', 'charges', null],
  ['the gateway where it is not named', '/own', 'gateway', null],
  ['a name that is none of the mesh', '/own', 'kafka', null],
  ['no name', '/own', null, null],
  ['no name, of a route that is not there', '/nothing', null, null],
  ['a service that speaks for a tenant', '/operator', 'charges', TENANT],
  ['a service that speaks for an operator', '/operator', 'charges', OPERATOR],
  ['a service that speaks for anybody, of a route that is not there', '/no', 'charges', TENANT],
])('%s gets a 403', async (_who, url, caller, claims) => {
  const answer = await call(url, caller, claims);
  expect([answer.statusCode, answer.json()]).toMatchObject([403, { code: 'CALLER_NOT_ALLOWED' }]);
});

test.each<[string, string, Claims | null]>([
  ['nobody, where a tenant is needed', '/tenant', null],
  ['an operator, where a tenant is needed', '/tenant', OPERATOR],
  ['nobody, where an operator is needed', '/operator', null],
  ['a tenant, where an operator is needed', '/operator', TENANT],
  ['a tenant, where a job calls', '/job', TENANT],
])('the gateway that speaks for %s gets a 401', async (_whom, url, claims) => {
  const answer = await call(url, 'gateway', claims);
  expect([answer.statusCode, answer.json()]).toMatchObject([401, { code: 'UNAUTHORIZED' }]);
});

test.each(['', 'x', Buffer.from('{"tenant":{}}').toString('base64url')])(
  'claims that cannot be read are a 401: %j',
  async (text) => {
    const headers = { 'x-test-caller': 'gateway', [INTERNAL_HEADERS.claims]: text };
    expect((await app.inject({ url: '/tenant', headers })).statusCode).toBe(401);
  },
);

test('a route that is not there is a 404 to each of the mesh', async () => {
  expect((await call('/nothing', 'ledger', null)).statusCode).toBe(404);
});

test('a route that is not in the table does not register', () => {
  expect(() => anApp().get('/more', async () => ({}))).toThrow(
    'GET /more is not in the table of internal routes',
  );
  expect(() => anApp().post('/own', async () => ({}))).toThrow('POST /own');
});

function anApp() {
  const made = createServiceApp({ logger: createLogger('test', 'silent'), listener: 'test' });
  guardRoutes(made, TABLE, injectedPeers);
  return made;
}

async function call(url: string, caller: string | null, claims: Claims | null) {
  return await app.inject({
    url,
    headers: {
      ...(caller === null ? {} : { 'x-test-caller': caller }),
      ...(claims === null ? {} : { [INTERNAL_HEADERS.claims]: encodeClaims(claims) }),
    },
  });
}
