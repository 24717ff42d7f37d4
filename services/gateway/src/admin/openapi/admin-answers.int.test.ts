import { readFileSync } from 'node:fs';

import { createAnswerChecker } from '@pixmesh/testkit/answer-checker';
import { buildAdminDocument } from '@pixmesh/contracts/openapi/build-admin-document';
import { newId } from '@pixmesh/kernel/ids';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type Answer, sendRequest } from '#testing/send-request.ts';
import { startTestGateway, type Tenant, type TestGateway } from '#testing/start-test-gateway.ts';

const check = createAnswerChecker(buildAdminDocument());

let gateway: TestGateway;
let tenant: Tenant;

beforeAll(async () => {
  gateway = await startTestGateway();
  tenant = await gateway.createTenant();
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Calls a route of the document, and holds the answer to it. */
async function call(
  route: string,
  sent: { id?: string; query?: string; body?: object } = {},
): Promise<Answer> {
  const [method = '', path = ''] = route.split(' ');
  const target = path.replace('{id}', sent.id ?? '') + (sent.query ?? '');
  const answer = await gateway.admin(method, target, { body: sent.body });
  const faults = check({
    method,
    path,
    status: answer.status,
    headers: answer.headers as Record<string, string | undefined>,
    body: answer.text === '' ? null : answer.json,
  });
  expect(faults).toEqual([]);
  return answer;
}

test('what the gateway answers by itself is what the document says', async () => {
  const operator = await call('POST /admin/operators', { body: { name: 'Ana' } });
  expect(operator.status).toBe(201);
  await call('GET /admin/operators');
  const account = { name: 'Loja', legal_name: 'Loja Ltda', document: '11.444.777/0001-61' };
  const created = await call('POST /admin/accounts', { body: account });
  const id = String(created.json['id']);
  await call('GET /admin/accounts', { query: '?status=active' });
  await call('GET /admin/accounts/{id}', { id });
  await call('PATCH /admin/accounts/{id}', { id, body: { payout_fee: 10 } });
  const application = await call('POST /admin/accounts/{id}/applications', {
    id,
    body: { name: 'shop' },
  });
  await call('GET /admin/accounts/{id}/applications', { id });
  const applicationId = String(application.json['id']);
  await call('PATCH /admin/applications/{id}', { id: applicationId, body: { active: false } });
  const key = await call('POST /admin/applications/{id}/keys', {
    id: applicationId,
    body: { name: 'main', scopes: ['charge:read'], expires_at: '2031-01-01T00:00:00-03:00' },
  });
  await call('GET /admin/applications/{id}/keys', { id: applicationId });
  const keyId = String(key.json['id']);
  await call('PATCH /admin/keys/{id}', { id: keyId, body: { suspended: true } });
  expect((await call('DELETE /admin/keys/{id}', { id: keyId })).status).toBe(204);
  await call('DELETE /admin/operators/{id}', { id: String(operator.json['id']) });
  await call('GET /admin/audit');
  await sendRequest({ port: gateway.ports.public, path: '/nothing' });
  await gateway.request(tenant.key, 'GET', '/v1/account');
  await eventually(async () => {
    const { json } = await call('GET /admin/requests', { query: '?limit=100' });
    const routes = (json['data'] as { route: string | null }[]).map(({ route }) => route);
    expect(routes).toEqual(expect.arrayContaining([null, '/v1/account']));
  });
});

test('refusals are what the document says too', async () => {
  const statuses = [
    await call('GET /admin/accounts/{id}', { id: newId() }),
    await call('PATCH /admin/keys/{id}', { id: 'x', body: {} }),
    await call('POST /admin/accounts', { body: { name: 1 } }),
    await call('POST /admin/accounts', {
      body: { name: 'a', legal_name: 'b', document: '11111111111' },
    }),
    await call('GET /admin/requests', { query: '?status=x' }),
    await call('GET /admin/requests', { query: '?created_after=2026-13-01' }),
    await call('DELETE /admin/operators/{id}', { id: newId() }),
  ].map(({ status, json }) => [status, json['code']]);
  expect(statuses).toEqual([
    [404, 'NOT_FOUND'],
    [404, 'NOT_FOUND'],
    [400, 'VALIDATION_ERROR'],
    [400, 'INVALID_DOCUMENT'],
    [400, 'VALIDATION_ERROR'],
    [400, 'VALIDATION_ERROR'],
    [404, 'NOT_FOUND'],
  ]);
});

test('the document is served to operators, and to nobody else', async () => {
  const golden = new URL('../../../../../docs/openapi/admin.json', import.meta.url);
  const answer = await gateway.admin('GET', '/openapi.json');
  expect(answer.json).toEqual(JSON.parse(readFileSync(golden, 'utf8')));
  const stranger = await sendRequest({ port: gateway.ports.admin, path: '/openapi.json' });
  expect(stranger.status).toBe(401);
});
