import type { TenantClaims } from '@pixmesh/contracts/internal/caller-claims';
import { newId, uuidV5 } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { type Answer, sendRequest } from '#test/send-request.ts';
import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway, type Tenant, type TestGateway } from '#test/start-test-gateway.ts';

const PAYOUT = { id: newId(), object: 'payout', status: 'processing' };
const KEY = 'order-0001';

let gateway: TestGateway;
let tenant: Tenant;

beforeAll(async () => {
  gateway = await startTestGateway();
  tenant = await gateway.createTenant();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  for (const owner of Object.values(gateway.owners)) {
    owner.requests.length = 0;
    owner.answerWith((response) => answerJson(response, 201, { body: PAYOUT }));
  }
});

function create(path: string, headers: readonly string[], body = '{"amount":500}') {
  return sendRequest({
    port: gateway.ports.public,
    method: 'POST',
    path,
    headers: ['x-api-key', tenant.key, ...headers],
    body,
  });
}

const createPayout = (headers = ['Idempotency-Key', KEY], body?: string): Promise<Answer> =>
  create('/v1/payouts', headers, body);

function claimsSeenBy(service: 'charges' | 'payouts'): TenantClaims | null {
  const claims = gateway.owners[service].requests.at(-1)?.claims;
  return claims && 'tenant' in claims ? claims.tenant : null;
}

describe('the creation of a payout', () => {
  test('goes to payouts alone, under an id of its own kind', async () => {
    const answer = await createPayout();
    expect([answer.status, answer.json]).toEqual([201, PAYOUT]);
    expect(gateway.owners.payouts.requests).toMatchObject([
      { method: 'POST', url: '/v1/payouts', body: Buffer.from('{"amount":500}') },
    ]);
    expect(gateway.owners.charges.requests).toEqual([]);
    expect(claimsSeenBy('payouts')).toMatchObject({
      account_id: tenant.accountId,
      application_id: tenant.applicationId,
      creation_id: uuidV5(tenant.applicationId, `payout:${KEY}`),
    });
  });

  test('and that of a charge under one Idempotency-Key are independent', async () => {
    await createPayout();
    await create('/v1/charges', ['Idempotency-Key', KEY]);
    const [payout, charge] = [claimsSeenBy('payouts'), claimsSeenBy('charges')];
    expect(charge?.creation_id).toBe(uuidV5(tenant.applicationId, `charge:${KEY}`));
    expect(payout?.creation_id).not.toBe(charge?.creation_id);
  });

  test('carries the switches and the fee as they are at this very moment', async () => {
    await createPayout();
    const path = `/admin/accounts/${tenant.accountId}`;
    const settings = { payouts_enabled: false, auto_payout_enabled: true, payout_fee: 77 };
    await gateway.admin('PATCH', path, { body: settings });
    await createPayout();
    expect(claimsSeenBy('payouts')?.settings).toMatchObject(settings);
  });

  test('passes the marks of a repeat on', async () => {
    gateway.owners.payouts.answerWith((response) =>
      answerJson(response, 201, {
        body: PAYOUT,
        headers: { 'idempotent-replayed': 'true', 'idempotency-mismatch': 'true' },
      }),
    );
    expect((await createPayout()).headers).toMatchObject({
      'idempotent-replayed': 'true',
      'idempotency-mismatch': 'true',
    });
  });

  test.each([
    [400, 'INSUFFICIENT_BALANCE'],
    [400, 'AMOUNT_BELOW_MINIMUM'],
    [422, 'PAYOUTS_DISABLED'],
    [422, 'INVALID_WEBHOOK_URL'],
  ])('that is refused keeps its status and code: %i %s', async (status, code) => {
    const body = { code, message: 'x', details: [] };
    gateway.owners.payouts.answerWith((response) => answerJson(response, status, { body }));
    expect(await createPayout()).toMatchObject({ status, json: body });
  });

  test.each([502, 503, 504])('answered with %i is a 500 that may be repeated', async (status) => {
    gateway.owners.payouts.answerWith((response) => answerJson(response, status, { body: {} }));
    expect(await createPayout()).toMatchObject({ status: 500, json: { code: 'INTERNAL_ERROR' } });
  });

  test('that is cut off is a 500, and is asked of the owner once', async () => {
    gateway.owners.payouts.answerWith((response) => response.destroy());
    expect((await createPayout()).status).toBe(500);
    expect(gateway.owners.payouts.requests).toHaveLength(1);
  });

  test('needs an Idempotency-Key before its body is looked at', async () => {
    const answer = await createPayout([], 'no json');
    expect(answer).toMatchObject({ status: 400, json: { code: 'IDEMPOTENCY_KEY_REQUIRED' } });
    expect(gateway.owners.payouts.requests).toEqual([]);
  });
});

describe('reads of payouts', () => {
  test('go on with their query as it stood on the wire', async () => {
    gateway.owners.payouts.answerWith((response) =>
      answerJson(response, 200, { body: { object: 'list', data: [], has_more: false } }),
    );
    const query = 'status=pending&status=failed&limit[]=1&created_after=2026-11-21T00%3A00%2B03:00';
    const answer = await gateway.request(tenant.key, 'GET', `/v1/payouts?${query}`);
    expect(answer).toMatchObject({ status: 200, json: { object: 'list' } });
    expect(gateway.owners.payouts.requests.at(-1)?.url).toBe(`/v1/payouts?${query}`);
    expect(claimsSeenBy('payouts')?.creation_id).toBeNull();
  });

  test('of one payout leave an ill-formed id to the owner', async () => {
    const body = { code: 'PAYOUT_NOT_FOUND', message: 'x', details: [] };
    gateway.owners.payouts.answerWith((response) => answerJson(response, 404, { body }));
    expect(await gateway.request(tenant.key, 'GET', '/v1/payouts/..%2Fbalance')).toMatchObject({
      status: 404,
      json: body,
    });
    expect(gateway.owners.payouts.requests.at(-1)?.url).toBe('/v1/payouts/..%2Fbalance');
  });
});

test.each([
  ['POST', '/v1/payouts', 'payout:write'],
  ['GET', '/v1/payouts', 'payout:read'],
  ['GET', `/v1/payouts/${newId()}`, 'payout:read'],
] as const)('%s %s needs the scope %s', async (method, path, scope) => {
  const others = ['charge:read', 'charge:write', 'balance:read'] as const;
  const { key } = await gateway.createTenant({ scopes: others });
  expect(await gateway.request(key, method, path)).toMatchObject({
    status: 403,
    json: { code: 'INSUFFICIENT_SCOPE', details: [scope] },
  });
  expect(gateway.owners.payouts.requests).toEqual([]);
});
