import { generateApiKey } from '@pixmesh/kernel/api-key';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { scaled } from '@pixmesh/testkit/long-runs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { sendRequest } from '#test/send-request.ts';
import { startTestGateway, type Tenant, type TestGateway } from '#test/start-test-gateway.ts';

const REVOCATION_TRIALS = scaled(100, 500);

let gateway: TestGateway;
let tenant: Tenant;

beforeAll(async () => {
  gateway = await startTestGateway();
  tenant = await gateway.createTenant();
});
afterAll(() => gateway[Symbol.asyncDispose]());

function callWith(headers: readonly string[], path = '/v1/account') {
  return sendRequest({ port: gateway.ports.public, path, headers });
}

/** The head of an answer without what differs from request to request. */
function stable(headers: NodeJS.Dict<string | string[]>) {
  return { ...headers, 'x-request-id': null, date: null };
}

describe('every key that is not accepted', () => {
  test('gets one and the same 401', async () => {
    const revoked = await gateway.createTenant();
    await gateway.admin('DELETE', `/admin/keys/${revoked.keyId}`);
    const suspended = await gateway.createTenant();
    await gateway.admin('PATCH', `/admin/keys/${suspended.keyId}`, { body: { suspended: true } });
    const expired = await gateway.createTenant({ key: { expires_at: '2020-01-01T00:00:00Z' } });
    const deactivated = await gateway.createTenant();
    const path = `/admin/applications/${deactivated.applicationId}`;
    await gateway.admin('PATCH', path, { body: { active: false } });
    const otherSecret = generateApiKey();
    const { db } = gateway.database;
    await db.query(
      sql`
        insert into api_keys (id, application_id, public_id, digest, name, scopes, fingerprint)
        values (${newId()}, ${tenant.applicationId}, ${otherSecret.publicId}, ${Buffer.alloc(32)},
          'another secret', '{}', '')`,
    );

    const causes: Record<string, readonly string[]> = {
      missing: [],
      blank: ['x-api-key', ''],
      spaces: ['x-api-key', '   '],
      malformed: ['x-api-key', 'nonsense'],
      'wrong checksum': [
        'x-api-key',
        `${tenant.key.slice(0, -1)}${tenant.key.endsWith('0') ? 1 : 0}`,
      ],
      'over-long': ['x-api-key', tenant.key.repeat(100)],
      repeated: ['x-api-key', tenant.key, 'X-Api-Key', tenant.key],
      'repeated, one blank': ['x-api-key', tenant.key, 'x-api-key', ''],
      'in Authorization': ['authorization', `Bearer ${tenant.key}`],
      unknown: ['x-api-key', generateApiKey().key],
      'right id, wrong secret': ['x-api-key', otherSecret.key],
      revoked: ['x-api-key', revoked.key],
      suspended: ['x-api-key', suspended.key],
      expired: ['x-api-key', expired.key],
      'application inactive': ['x-api-key', deactivated.key],
    };
    const reference = await callWith([]);
    expect(reference.status).toBe(401);
    expect(reference.text).toBe(
      '{"code":"UNAUTHORIZED","message":"Authentication failed. x-api-key: expected a key that is in use.","details":[]}',
    );
    for (const [cause, headers] of Object.entries(causes)) {
      const answer = await callWith(headers);
      expect([cause, answer.status, answer.text]).toEqual([cause, 401, reference.text]);
      expect(stable(answer.headers)).toEqual(stable(reference.headers));
    }
    expect((await callWith([], `/v1/account?x-api-key=${tenant.key}`)).status).toBe(401);
  });

  test('is told before its body is looked at', async () => {
    const answer = await sendRequest({
      port: gateway.ports.public,
      method: 'POST',
      path: '/v1/charges',
      body: '{'.repeat(10),
    });
    expect(answer.status).toBe(401);
  });
});

describe('an accepted key', () => {
  test('works again once it is resumed, its expiry is cleared or its application is active', async () => {
    const { keyId, key, applicationId } = await gateway.createTenant({
      key: { expires_at: '2020-01-01T00:00:00Z' },
    });
    await gateway.admin('PATCH', `/admin/keys/${keyId}`, { body: { expires_at: null } });
    expect((await gateway.request(key, 'GET', '/v1/account')).status).toBe(200);
    await gateway.admin('PATCH', `/admin/keys/${keyId}`, { body: { suspended: true } });
    expect((await gateway.request(key, 'GET', '/v1/account')).status).toBe(401);
    await gateway.admin('PATCH', `/admin/keys/${keyId}`, { body: { suspended: false } });
    await gateway.admin('PATCH', `/admin/applications/${applicationId}`, {
      body: { active: false },
    });
    expect((await gateway.request(key, 'GET', '/v1/account')).status).toBe(401);
    await gateway.admin('PATCH', `/admin/applications/${applicationId}`, {
      body: { active: true },
    });
    expect((await gateway.request(key, 'GET', '/v1/account')).status).toBe(200);
  });

  test('of an inactive account still authenticates', async () => {
    const { key, accountId } = await gateway.createTenant();
    await gateway.admin('PATCH', `/admin/accounts/${accountId}`, { body: { status: 'inactive' } });
    const answer = await gateway.request(key, 'GET', '/v1/account');
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ id: accountId, status: 'inactive' });
  });

  test('without the scope of a route gets 403 with that scope alone', async () => {
    const { key } = await gateway.createTenant({ scopes: ['charge:read', 'payout:read'] });
    const answer = await gateway.request(key, 'GET', '/v1/balance');
    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ code: 'INSUFFICIENT_SCOPE', details: ['balance:read'] });
    // Scope comes before the Idempotency-Key (decision 12).
    const creation = await gateway.request(key, 'POST', '/v1/charges');
    expect(creation.json).toMatchObject({ code: 'INSUFFICIENT_SCOPE', details: ['charge:write'] });
  });

  test(
    'is refused from the very next request after its revocation',
    { timeout: 120_000 },
    async () => {
      const path = `/admin/applications/${tenant.applicationId}/keys`;
      let accepted = 0;
      for (let trial = 0; trial < REVOCATION_TRIALS; trial += 1) {
        const created = await gateway.admin('POST', path, {
          body: {
            name: 'trial',
            scopes: ['account:read'],
          },
        });
        const key = String(created.json['key']);
        expect((await gateway.request(key, 'GET', '/v1/account')).status).toBe(200);
        expect(
          (await gateway.admin('DELETE', `/admin/keys/${String(created.json['id'])}`)).status,
        ).toBe(204);
        const after = await gateway.request(key, 'GET', '/v1/account');
        if (after.status !== 401) accepted += 1;
      }
      expect(accepted).toBe(0);
    },
  );
});
