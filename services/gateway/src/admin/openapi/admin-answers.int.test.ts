import { readFileSync } from 'node:fs';

import { createAnswerChecker } from '@pixmesh/testkit/answer-checker';
import { OperatorCharge, Refund } from '@pixmesh/contracts/internal/operator-charges';
import { OperatorDispute } from '@pixmesh/contracts/internal/operator-disputes';
import { SuspenseResolution } from '@pixmesh/contracts/internal/suspense';
import { CHARGE, DISPUTE } from '@pixmesh/contracts/openapi/resource-examples';
import { buildAdminDocument } from '@pixmesh/contracts/openapi/build-admin-document';
import { newId } from '@pixmesh/kernel/ids';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type Answer, sendRequest } from '#test/send-request.ts';
import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway, type Tenant, type TestGateway } from '#test/start-test-gateway.ts';

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
  sent: { id?: string; query?: string; body?: object; headers?: readonly string[] } = {},
): Promise<Answer> {
  const [method = '', path = ''] = route.split(' ');
  const target = path.replace('{id}', sent.id ?? '') + (sent.query ?? '');
  const answer = await gateway.admin(method, target, {
    body: sent.body,
    headers: sent.headers ?? [],
  });
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
  await call('PATCH /admin/accounts/{id}', { id, body: { payout_fee: 10, endpoints_max: 5 } });
  gateway.owners.dispatcher.answerWith((response) =>
    answerJson(response, 200, { body: { endpoints: 2, deliveries_per_second_max: null } }),
  );
  await call('GET /admin/accounts/{id}/limits', { id });
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

const CHARGE_ID = newId();
const DISPUTE_ID = newId();
const ITEM_ID = newId();
const AT = '2026-11-21T12:00:00.000Z';

/** What owners answer about money, as their contracts have it. */
const REFUND = Refund.parse({
  id: newId(),
  object: 'refund',
  charge_id: CHARGE_ID,
  end_to_end_id: 'E1',
  amount: 500,
  status: 'processing',
  failure_reason: null,
  return_id: null,
  created_at: AT,
  completed_at: null,
});

function aCharge(): OperatorCharge {
  return OperatorCharge.parse({
    ...CHARGE,
    id: CHARGE_ID,
    account_id: tenant.accountId,
    application_id: null,
    source: 'checkout',
    accepted_end_to_end_id: null,
    issuing: {
      unanswered_puts: 0,
      last_put_at: null,
      last_put_error: null,
      uncounted_refusal: null,
    },
    status_check: { checked_at: null, acquirer: null, next_check_at: null },
  });
}

function aDispute(): OperatorDispute {
  return OperatorDispute.parse({
    ...DISPUTE,
    id: DISPUTE_ID,
    account_id: tenant.accountId,
    end_to_end_id: 'E1',
    infraction_id: 'i-1',
    defense: null,
    messages: [{ message: 'Send the proof.', created_at: AT }],
  });
}

test('what owners answer about charges, refunds, disputes and suspense is what the document says', async () => {
  const list = (item: object) => ({ object: 'list', data: [item], has_more: false });
  const item = {
    id: ITEM_ID,
    object: 'suspense_item',
    account_id: null,
    end_to_end_id: 'E1',
    charge_id: null,
    payout_id: null,
    amount: 500,
    reason: 'unowned',
    created_at: AT,
    resolved_at: null,
  };
  const resolution = SuspenseResolution.parse({
    id: newId(),
    object: 'suspense_resolution',
    action: 'return',
    account_id: null,
    amount: 500,
    status: 'processing',
    failure_reason: null,
  });
  gateway.owners.ledger.answerWith((response) => answerJson(response, 200, { body: item }));
  const answers: Record<string, [number, object]> = {
    [`POST /internal/accounts/${tenant.accountId}/charges`]: [201, aCharge()],
    'GET /internal/charges': [200, list(aCharge())],
    [`GET /internal/charges/${CHARGE_ID}`]: [200, aCharge()],
    [`POST /internal/charges/${CHARGE_ID}/cancel`]: [200, aCharge()],
    [`POST /internal/charges/${CHARGE_ID}/refunds`]: [201, REFUND],
    [`GET /internal/charges/${CHARGE_ID}/refunds`]: [200, list(REFUND)],
    'GET /internal/disputes': [200, list(aDispute())],
    [`GET /internal/disputes/${DISPUTE_ID}`]: [200, aDispute()],
    [`POST /internal/disputes/${DISPUTE_ID}/defense`]: [200, aDispute()],
    [`POST /internal/disputes/${DISPUTE_ID}/messages`]: [201, aDispute()],
    [`POST /internal/suspense/${ITEM_ID}/resolve`]: [202, resolution],
  };
  gateway.owners.charges.answerWith((response, { method, url }) => {
    const [status, body] = answers[`${method} ${url}`] ?? [404, {}];
    answerJson(response, status, { body });
  });
  const key = ['Idempotency-Key', 'refund-0001'];
  const [charge, dispute] = [{ id: CHARGE_ID }, { id: DISPUTE_ID }];
  const statuses = [
    await call('POST /admin/accounts/{id}/charges', { id: tenant.accountId, body: {} }),
    await call('GET /admin/charges'),
    await call('GET /admin/charges/{id}', charge),
    await call('POST /admin/charges/{id}/cancel', charge),
    await call('POST /admin/charges/{id}/refunds', { ...charge, body: {}, headers: key }),
    await call('GET /admin/charges/{id}/refunds', charge),
    await call('GET /admin/disputes'),
    await call('GET /admin/disputes/{id}', dispute),
    await call('POST /admin/disputes/{id}/defense', { ...dispute, body: { text: 'x' } }),
    await call('POST /admin/disputes/{id}/messages', { ...dispute, body: { message: 'x' } }),
    await call('POST /admin/suspense/{id}/resolve', { id: ITEM_ID, body: { action: 'return' } }),
  ].map(({ status }) => status);
  expect(statuses).toEqual(Object.values(answers).map(([status]) => status));
});

test('the document is the committed one, without a token', async () => {
  const golden = new URL('../../../../../docs/openapi/admin.json', import.meta.url);
  const answer = await sendRequest({ port: gateway.ports.admin, path: '/openapi.json' });
  expect(answer.json).toEqual(JSON.parse(readFileSync(golden, 'utf8')));
  const stranger = await sendRequest({ port: gateway.ports.admin, path: '/admin/accounts' });
  expect(stranger.status).toBe(401);
});

test('/reference is the page of this document, with its script, without a token', async () => {
  const page = await sendRequest({ port: gateway.ports.admin, path: '/reference' });
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.text).toContain('<title>Pixmesh Admin API</title>');
  expect(page.headers['content-security-policy']).toContain("connect-src 'self'");
  const script = await sendRequest({ port: gateway.ports.admin, path: '/reference/scalar.js' });
  expect([script.status, script.headers['content-type']]).toEqual([
    200,
    'text/javascript; charset=utf-8',
  ]);
});
