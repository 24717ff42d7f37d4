import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';

import { standStill } from '@pixmesh/testkit/stand-still';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway, type Tenant, type TestGateway } from '#test/start-test-gateway.ts';

const BODY = '{"amount":100}';
/** Longer than a caller counts as read. */
const LATE_MS = 400;

let gateway: TestGateway;
let tenant: Tenant;

beforeAll(async () => {
  gateway = await startTestGateway();
  gateway.owners.payouts.answerWith((response) =>
    answerJson(response, 201, { body: { object: 'payout' } }),
  );
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** A creation whose body comes after something else was done. */
async function createLate(act: () => Promise<unknown>): Promise<{ status: number; body: unknown }> {
  tenant = await gateway.createTenant();
  const request = httpRequest({
    port: gateway.ports.public,
    method: 'POST',
    path: '/v1/payouts',
    headers: {
      'x-api-key': tenant.key,
      'idempotency-key': 'late-0001',
      'content-type': 'application/json',
      'content-length': BODY.length,
    },
  });
  request.flushHeaders();
  await act();
  standStill(LATE_MS);
  request.end(BODY);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: JSON.parse(await text(response)) };
}

test('a switch of the account that was changed before a body came holds for its request', async () => {
  const { status } = await createLate(() =>
    gateway.admin('PATCH', `/admin/accounts/${tenant.accountId}`, {
      body: { payouts_enabled: false },
    }),
  );
  expect(status).toBe(201);
  expect(gateway.owners.payouts.requests.at(-1)?.claims).toMatchObject({
    tenant: { account_id: tenant.accountId, settings: { payouts_enabled: false } },
  });
});

test('a key that was revoked before a body came is refused', async () => {
  const asked = gateway.owners.payouts.requests.length;
  const answer = await createLate(() => gateway.admin('DELETE', `/admin/keys/${tenant.keyId}`));
  expect(answer).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
  expect(gateway.owners.payouts.requests).toHaveLength(asked);
});
