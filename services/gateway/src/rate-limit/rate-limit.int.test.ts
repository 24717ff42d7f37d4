import { randomBytes } from 'node:crypto';

import type { ApiKeyId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import type { Logger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { testInfra } from '@pixmesh/testkit/test-infra';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startPausableProxy } from '#test/pausable-proxy.ts';
import { startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

import { createRedisRateCounters } from './redis-rate-counters.ts';

const QUOTA = 5;
/** Above what one request may wait for its count, on a busy machine. */
const WAIT_MS_MAX = 1_500;

function redisAddress(): { host: string; port: number } {
  const url = new URL(testInfra().redisUrl);
  return { host: url.hostname, port: Number(url.port) };
}

describe('the limit of a key, over two processes', () => {
  let first: TestGateway;
  let second: TestGateway;

  beforeAll(async () => {
    const limited = {
      API_KEY_PEPPER: randomBytes(32).toString('base64url'),
      REDIS_URL: testInfra().redisUrl,
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

describe('the counters', () => {
  const lines: string[] = [];
  const logger = {
    warn: (_fields: object, line: string) => lines.push(line),
    info: (line: string) => lines.push(line),
  } as unknown as Logger;
  const quota = { logger, requests: 1, windowSeconds: 1, timeoutMs: 50 };

  test('begin anew when the window has passed', async () => {
    await using counters = createRedisRateCounters({ ...quota, url: testInfra().redisUrl });
    const keyId = newId<ApiKeyId>();
    await eventually(async () => {
      await counters.count(keyId);
      expect(await counters.count(keyId)).toMatchObject({ kind: 'exceeded' });
    });
    await eventually(async () => {
      expect(await counters.count(keyId)).toEqual({ kind: 'within' });
    });
  });

  test('hold neither the key nor anything for longer than the window', async () => {
    await using counters = createRedisRateCounters({
      ...quota,
      windowSeconds: 30,
      url: testInfra().redisUrl,
    });
    const keyId = newId<ApiKeyId>();
    const redis = await createClient({ url: testInfra().redisUrl }).connect();
    try {
      await eventually(async () => {
        await counters.count(keyId);
        const lifetime = await redis.ttl(`pixmesh:rate:${keyId}`);
        expect(lifetime).toBeGreaterThan(0);
        expect(lifetime).toBeLessThanOrEqual(30);
      });
    } finally {
      redis.destroy();
    }
  });

  test('let everything pass while Redis is away', async () => {
    lines.length = 0;
    await using counters = createRedisRateCounters({ ...quota, url: 'redis://127.0.0.1:1' });
    const keyId = newId<ApiKeyId>();
    for (let count = 0; count < 10; count += 1) {
      expect(await counters.count(keyId)).toEqual({ kind: 'within' });
    }
    expect(lines).toEqual(['rate limit: redis unavailable, requests not limited']);
  });

  test(
    'let everything pass, soon, while Redis answers nothing, with one line at its begin and one at its end',
    { timeout: 30_000 },
    async () => {
      await using proxy = await startPausableProxy(redisAddress());
      await using counters = createRedisRateCounters({
        ...quota,
        windowSeconds: 600,
        url: `redis://127.0.0.1:${proxy.port}`,
      });
      const keyId = newId<ApiKeyId>();
      await eventually(async () => {
        expect(await counters.count(keyId)).toMatchObject({ kind: 'exceeded' });
      });
      lines.length = 0;
      proxy.pause();
      const begunMs = performance.now();
      for (let count = 0; count < 50; count += 1) {
        expect(await counters.count(keyId)).toEqual({ kind: 'within' });
      }
      expect(performance.now() - begunMs).toBeLessThan(WAIT_MS_MAX);
      expect(lines).toEqual(['rate limit: redis unavailable, requests not limited']);
      proxy.resume();
      await eventually(async () => {
        expect(await counters.count(keyId)).toMatchObject({ kind: 'exceeded' });
      });
      expect(lines.at(-1)).toBe('rate limit: redis available');
      expect(lines).toHaveLength(2);
    },
  );
});

describe('the switch', () => {
  test('is off by default: nobody is limited, and nobody connects to Redis', async () => {
    await using proxy = await startPausableProxy(redisAddress());
    await using gateway = await startTestGateway({ REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
    const { key } = await gateway.createTenant();
    for (let count = 0; count < 20; count += 1) {
      expect((await gateway.request(key, 'GET', '/v1/account')).status).toBe(200);
    }
    expect(proxy.connections()).toBe(0);
  });

  test('on, without a Redis behind it, changes no answer', async () => {
    await using gateway = await startTestGateway({
      REDIS_URL: 'redis://127.0.0.1:1',
      RATE_LIMIT_PER_KEY: '1',
    });
    const { key } = await gateway.createTenant();
    for (let count = 0; count < 5; count += 1) {
      expect((await gateway.request(key, 'GET', '/v1/account')).status).toBe(200);
    }
  });
});
