import { randomBytes } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { testRedisVariables } from '@pixmesh/testkit/test-redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

const QUOTA = 5;

describe('the installation’s own limit of a key, over two processes', () => {
  let first: TestGateway;
  let second: TestGateway;

  beforeAll(async () => {
    const limited = {
      API_KEY_PEPPER: randomBytes(32).toString('base64url'),
      ...testRedisVariables('gateway'),
      RATE_LIMIT_PER_KEY: String(QUOTA),
      // A busy machine is no outage of Redis.
      RATE_LIMIT_TIMEOUT_MS: '5000',
    };
    first = await startTestGateway(limited);
    second = await startTestGateway({ ...limited, DATABASE_URL: first.database.url });
  });
  afterAll(async () => {
    await second[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
  });

  async function useUpQuota(key: string): Promise<void> {
    for (let count = 0; count < QUOTA; count += 1) {
      const gateway = count % 2 === 0 ? first : second;
      expect((await gateway.request(key, 'GET', '/v1/account')).status).toBe(200);
    }
  }

  test('is one quota: beyond it both answer 429 in the envelope, with Retry-After', async () => {
    const { key } = await first.createTenant();
    await useUpQuota(key);
    for (const gateway of [first, second]) {
      const answer = await gateway.request(key, 'GET', '/v1/account');
      expect(answer.status).toBe(429);
      expect(answer.text).toBe(
        '{"code":"RATE_LIMITED","message":"Too many requests with this key. The header Retry-After says when to go on.","details":[]}',
      );
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
      expect(answer.headers['x-request-id']).toBeDefined();
    }
  });

  test('comes before the scope and the Idempotency-Key, and other keys do not feel it', async () => {
    const tenant = await first.createTenant({ scopes: ['account:read'] });
    await useUpQuota(tenant.key);
    expect((await first.request(tenant.key, 'GET', '/v1/balance')).status).toBe(429);
    expect((await second.request(tenant.key, 'POST', '/v1/charges')).status).toBe(429);
    const other = await first.createTenant();
    expect((await first.request(other.key, 'GET', '/v1/account')).status).toBe(200);
  });

  test('is not used up by those who do not have the key', async () => {
    const { key } = await first.createTenant();
    const forged = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    for (let count = 0; count < QUOTA * 2; count += 1) {
      expect((await first.request(forged, 'GET', '/v1/account')).status).toBe(401);
    }
    expect((await first.request(key, 'GET', '/v1/account')).status).toBe(200);
  });

  test('is shown with the limits of an account', async () => {
    const { accountId } = await first.createTenant();
    const { json } = await first.admin('GET', `/admin/accounts/${accountId}/limits`);
    expect(json['key_default']).toEqual({ requests_max: QUOTA, window_seconds: 60 });
  });

  test('is found in the request log, with the key', async () => {
    const { key, keyId } = await first.createTenant();
    await useUpQuota(key);
    const refused = await first.request(key, 'GET', '/v1/account');
    await eventually(async () => {
      const log = await first.admin('GET', `/admin/requests?key_id=${keyId}&status=429`);
      expect(log.json['data']).toEqual([
        expect.objectContaining({
          request_id: refused.headers['x-request-id'],
          key_id: keyId,
          route: '/v1/account',
          status: 429,
        }),
      ]);
    });
  });
});

test('without a Redis behind it, it refuses nobody whom this gateway has not let pass too often', async () => {
  await using gateway = await startTestGateway({
    REDIS_URL: 'redis://127.0.0.1:1',
    RATE_LIMIT_PER_KEY: '3',
  });
  const { key } = await gateway.createTenant();
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    statuses.push((await gateway.request(key, 'GET', '/v1/account')).status);
  }
  expect(statuses).toEqual([200, 200, 200, 429]);
});
