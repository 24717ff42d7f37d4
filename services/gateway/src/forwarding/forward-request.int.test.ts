import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { newId, uuidV5 } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { type Answer, sendRequest } from '#test/send-request.ts';
import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway, type Tenant, type TestGateway } from '#test/start-test-gateway.ts';

const REQUEST_TIMEOUT_MS = 2_000;
const CHARGE = { id: newId(), object: 'charge', status: 'pending' };

let gateway: TestGateway;
let tenant: Tenant;

beforeAll(async () => {
  gateway = await startTestGateway({ REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS) });
  tenant = await gateway.createTenant({ account: { payout_fee: 199 } });
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  for (const owner of Object.values(gateway.owners)) {
    owner.requests.length = 0;
    owner.answerWith((response) => answerJson(response, 200, { body: CHARGE }));
  }
});

function createCharge(
  headers: readonly string[],
  body: string | Buffer = '{"amount":100}',
): Promise<Answer> {
  return sendRequest({
    port: gateway.ports.public,
    method: 'POST',
    path: '/v1/charges',
    headers: ['x-api-key', tenant.key, ...headers],
    body,
  });
}

function lastRequest() {
  const request = gateway.owners.charges.requests.at(-1);
  if (!request) throw new Error('the owner saw no request');
  return request;
}

describe('a forwarded request', () => {
  test('reaches its owner with the exact body, the media type and a signed token', async () => {
    gateway.owners.charges.answerWith((response) => answerJson(response, 201, { body: CHARGE }));
    const body = Buffer.from('{ "amount": 1e2, "x": "\u00e7", "raw": "\\u0000" }\n');
    const answer = await createCharge(
      ['Idempotency-Key', 'order-0001', 'Content-Type', 'application/json; charset=UTF-8'],
      body,
    );
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual(CHARGE);
    const seen = lastRequest();
    expect(seen).toMatchObject({ method: 'POST', url: '/v1/charges' });
    expect(seen.body.equals(body)).toBe(true);
    expect(seen.headers['content-type']).toBe('application/json; charset=UTF-8');
    const tenantClaims = {
      account_id: tenant.accountId,
      application_id: tenant.applicationId,
      key_id: tenant.keyId,
      request_id: answer.headers['x-request-id'],
      creation_id: uuidV5(tenant.applicationId, 'charge:order-0001'),
      settings: {
        status: 'active',
        onboarding_status: 'pending',
        auto_payout_enabled: false,
        payouts_enabled: true,
        payout_fee: 199,
        charge_expires_in: 86_400,
        release_delay_seconds: 0,
        late_payment_policy: 'accept',
        endpoints_max: null,
      },
    };
    expect(seen.claims).toEqual({ tenant: tenantClaims });
    expect(Number(seen.headers['x-pixmesh-timeout-ms'])).toBeLessThan(REQUEST_TIMEOUT_MS);
  });

  test('carries no header of the client but those that say how to read its body', async () => {
    const sent = {
      'Idempotency-Key': 'order-0002',
      'X-Pixmesh-Claims': 'forged',
      'x-pixmesh-timeout-ms': '999999',
      'X-PIXMESH-Anything': 'x',
      'X-Request-Id': 'mine',
      Cookie: 'a=b',
      'X-Forwarded-For': '1.2.3.4',
      Authorization: 'Bearer x',
      Accept: 'text/html',
      'Content-Encoding': 'identity',
    };
    await createCharge(Object.entries(sent).flat());
    expect(Object.keys(lastRequest().headers).sort()).toEqual([
      'connection',
      'content-encoding',
      'content-length',
      'host',
      'x-pixmesh-claims',
      'x-pixmesh-timeout-ms',
    ]);
    expect(lastRequest().claims).toMatchObject({ tenant: { account_id: tenant.accountId } });
  });

  test('on a read has no body, no creation id, and ignores an Idempotency-Key', async () => {
    const answer = await sendRequest({
      port: gateway.ports.public,
      path: '/v1/balance?x=%2F..&limit[]=1',
      headers: ['x-api-key', tenant.key, 'Idempotency-Key', 'x', 'Idempotency-Key', 'y'],
    });
    expect(answer.status).toBe(200);
    const seen = gateway.owners.ledger.requests.at(-1);
    expect(seen?.url).toBe('/v1/balance?x=%2F..&limit[]=1');
    expect(seen?.claims).toMatchObject({ tenant: { creation_id: null } });
  });

  test.each([
    { sent: 'not-a-uuid', seen: 'not-a-uuid' },
    { sent: '..', seen: '%252E%252E' },
    { sent: '%2e%2E', seen: '%252E%252E' },
    { sent: '..%2Fbalance', seen: '..%2Fbalance' },
    { sent: '..%2f..%2fv1%2fbalance', seen: '..%2F..%2Fv1%2Fbalance' },
    { sent: 'a%3Fb%23c', seen: 'a%3Fb%23c' },
    { sent: 'a%0d%0ax-pixmesh-claims:y', seen: 'a%0D%0Ax-pixmesh-claims%3Ay' },
    { sent: 'a'.repeat(4000), seen: 'a'.repeat(4000) },
  ])('with the ill-formed id $sent reaches its own route', async ({ sent, seen }) => {
    gateway.owners.charges.answerWith((response) =>
      answerJson(response, 404, { body: { code: 'CHARGE_NOT_FOUND', message: 'x', details: [] } }),
    );
    const answer = await gateway.request(tenant.key, 'GET', `/v1/charges/${sent}`);
    expect([answer.status, answer.json['code']]).toEqual([404, 'CHARGE_NOT_FOUND']);
    expect(lastRequest().url).toBe(`/v1/charges/${seen}`);
  });
});

describe('the answer of an owner', () => {
  test('keeps its status, body and replay marks, and loses everything else', async () => {
    gateway.owners.charges.answerWith((response) =>
      answerJson(response, 201, {
        body: CHARGE,
        headers: {
          'idempotent-replayed': 'true',
          'idempotency-mismatch': 'true',
          'x-pixmesh-claims': 'secret',
          'x-request-id': 'theirs',
          'cache-control': 'public',
          'set-cookie': 'a=b',
          server: 'owner',
        },
      }),
    );
    const answer = await createCharge(['Idempotency-Key', 'order-0003']);
    expect(answer.status).toBe(201);
    expect(answer.headers).toEqual({
      'x-request-id': expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(answer.text)),
      'idempotent-replayed': 'true',
      'idempotency-mismatch': 'true',
      date: expect.any(String) as string,
      connection: 'close',
    });
    const plain = await gateway.request(tenant.key, 'GET', '/v1/balance');
    expect(plain.headers).not.toHaveProperty('idempotent-replayed');
    expect(plain.headers).not.toHaveProperty('idempotency-mismatch');
  });

  test.each([400, 404, 422, 500])('with status %i goes on as it is', async (status) => {
    const body = { code: 'ACQUIRER_REJECTED', message: 'no', details: [], charge_id: newId() };
    gateway.owners.charges.answerWith((response) => answerJson(response, status, { body }));
    const answer = await createCharge(['Idempotency-Key', 'order-0004']);
    expect(answer).toMatchObject({ status, json: body });
  });

  test.each([
    { name: 'bad gateway', status: 502, body: '{}', type: 'application/json' },
    { name: 'unavailable', status: 503, body: '{}', type: 'application/json' },
    { name: 'gateway timeout', status: 504, body: '{}', type: 'application/json' },
    { name: 'refusal of our own token', status: 401, body: '{}', type: 'application/json' },
    { name: 'page of a proxy', status: 200, body: '<html>', type: 'text/html' },
    { name: 'garbage', status: 200, body: '\x00\xff', type: 'application/json' },
    { name: 'nothing', status: 200, body: '', type: 'application/json' },
  ])('that cannot be read is a 500 of the envelope: $name', async ({ status, body, type }) => {
    gateway.owners.charges.answerWith((response) =>
      response.writeHead(status, { 'content-type': type }).end(body),
    );
    expectInternalError(await createCharge(['Idempotency-Key', 'order-0005']));
  });

  test('that breaks off or never begins is a 500 of the envelope', async () => {
    gateway.owners.charges.answerWith((response) => response.destroy());
    expectInternalError(await createCharge(['Idempotency-Key', 'order-0006']));
    gateway.owners.charges.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '99' });
      response.write('{"object":');
      response.destroy();
    });
    expectInternalError(await createCharge(['Idempotency-Key', 'order-0006']));
  });

  test('that does not come within the deadline is a 500 of the envelope', async () => {
    gateway.owners.charges.answerWith(() => undefined);
    const begin = performance.now();
    expectInternalError(await createCharge(['Idempotency-Key', 'order-0007']));
    expect(performance.now() - begin).toBeLessThan(REQUEST_TIMEOUT_MS * 3);
  });
});

describe('a creation', () => {
  test.each([
    { name: 'missing', headers: [], code: 'IDEMPOTENCY_KEY_REQUIRED', details: [] },
    {
      name: 'empty',
      headers: ['Idempotency-Key', ''],
      code: 'IDEMPOTENCY_KEY_REQUIRED',
      details: [],
    },
    {
      name: 'blank',
      headers: ['Idempotency-Key', '            '],
      code: 'IDEMPOTENCY_KEY_REQUIRED',
      details: [],
    },
    {
      name: 'short',
      headers: ['Idempotency-Key', '1234567'],
      code: 'IDEMPOTENCY_KEY_REQUIRED',
      details: [],
    },
    {
      name: 'long',
      headers: ['Idempotency-Key', 'k'.repeat(256)],
      code: 'VALIDATION_ERROR',
      details: ['Idempotency-Key'],
    },
    {
      name: 'not ASCII',
      headers: ['Idempotency-Key', 'order-\u00e7\u00e7\u00e7'],
      code: 'VALIDATION_ERROR',
      details: ['Idempotency-Key'],
    },
    {
      name: 'repeated',
      headers: ['Idempotency-Key', 'order-0001', 'idempotency-key', 'order-0001'],
      code: 'VALIDATION_ERROR',
      details: ['Idempotency-Key'],
    },
  ])('with a key that is $name never reaches the owner', async ({ headers, code, details }) => {
    const answer = await createCharge(headers, 'not even json');
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code, details });
    expect(gateway.owners.charges.requests).toHaveLength(0);
  });

  test('with an over-large body is a 413 of the envelope', async () => {
    const answer = await createCharge(['Idempotency-Key', 'order-0008'], 'x'.repeat(64 * 1024 + 1));
    expect(answer.status).toBe(413);
    expect(answer.json).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', details: [] });
    expect(gateway.owners.charges.requests).toHaveLength(0);
  });

  test('without a body or with hostile bytes is left to its owner', async () => {
    for (const body of ['', '['.repeat(60_000), Buffer.from([0xff, 0xfe, 0x00])]) {
      await createCharge(['Idempotency-Key', 'order-0009'], body);
      expect(lastRequest().body.equals(Buffer.from(body))).toBe(true);
    }
  });
});

test('every route of the table is served, and asks for a key first', async () => {
  for (const { method, path } of Object.values(PUBLIC_ROUTES)) {
    const answer = await gateway.request(null, method, path.replace(':id', newId()));
    expect([method, path, answer.status]).toEqual([method, path, 401]);
  }
});

function expectInternalError(answer: Answer): void {
  expect(answer.status).toBe(500);
  expect(answer.text).toBe(
    '{"code":"INTERNAL_ERROR","message":"Unexpected failure.","details":[]}',
  );
  expect(answer.headers['x-request-id']).toBeDefined();
}
