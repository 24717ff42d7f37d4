import { randomBytes } from 'node:crypto';

import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { testInfra } from '@pixmesh/testkit/test-infra';
import { connectTestRedis, testRedisVariables } from '@pixmesh/testkit/test-redis';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { answerJson } from '#test/start-fake-owner.ts';
import { startPausableProxy } from '#test/pausable-proxy.ts';
import { startTestGateway, type Tenant, type TestGateway } from '#test/start-test-gateway.ts';

import { COUNTERS } from './limits-of.ts';

/** What the dispatcher tells of every account. */
const USE = { endpoints: 3, deliveries_per_second_max: 6, deliveries_reached: true };

let first: TestGateway;
let second: TestGateway;

beforeAll(async () => {
  const shared = {
    API_KEY_PEPPER: randomBytes(32).toString('base64url'),
    ...testRedisVariables('gateway'),
    // A busy machine is no outage of Redis.
    RATE_LIMIT_TIMEOUT_MS: '5000',
  };
  first = await startTestGateway(shared);
  second = await startTestGateway({ ...shared, DATABASE_URL: first.database.url });
  for (const { owners } of [first, second]) {
    owners.dispatcher.answerWith((response) => answerJson(response, 200, { body: USE }));
  }
  await Promise.all([first, second].map(connected));
});
afterAll(async () => {
  await second[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
});

/** Until it is connected to Redis a gateway counts by itself. */
async function connected(gateway: TestGateway): Promise<void> {
  const tenant = await gateway.createTenant();
  await eventually(async () => {
    const { counted_by: countedBy } = await readLimits(tenant, gateway);
    if (countedBy !== 'all_gateways') throw new Error(`counted by ${String(countedBy)}`);
  });
}

async function limit(path: string, body: object): Promise<void> {
  const { status, text } = await first.admin('PATCH', path, { body });
  if (status !== 200) throw new Error(text);
}

const limitAccount = ({ accountId }: Tenant, body: object) =>
  limit(`/admin/accounts/${accountId}`, body);
const limitKey = ({ keyId }: Tenant, body: object) => limit(`/admin/keys/${keyId}`, body);

async function readLimits({ accountId }: Tenant, gateway = first) {
  return (await gateway.admin('GET', `/admin/accounts/${accountId}/limits`)).json;
}

/** Statuses of one request at each gateway. */
async function askBoth({ key }: Tenant): Promise<number[]> {
  return [
    (await first.request(key, 'GET', '/v1/account')).status,
    (await second.request(key, 'GET', '/v1/account')).status,
  ];
}

/** Has the owners behind both gateways keep requests until they are answered by hand. */
function holdAnswers(): ServerResponse[] {
  const held: ServerResponse[] = [];
  for (const { owners } of [first, second]) {
    owners.charges.answerWith((response) => void held.push(response));
  }
  return held;
}

const answerHeld = (held: ServerResponse[]) => {
  for (const response of held.splice(0)) answerJson(response, 200, { body: { object: 'charge' } });
};

const readCharge = (gateway: TestGateway, { key }: Tenant) =>
  gateway.request(key, 'GET', `/v1/charges/${newId()}`);

test('a changed limit of an account holds from the next request, on every gateway', async () => {
  const tenant = await first.createTenant();
  expect(await askBoth(tenant)).toEqual([200, 200]);
  await limitAccount(tenant, { requests_per_minute_max: 3 });
  expect(await askBoth(tenant)).toEqual([200, 200]);
  expect(await askBoth(tenant)).toEqual([200, 429]);
  await limitAccount(tenant, { requests_per_minute_max: 5 });
  expect(await askBoth(tenant)).toEqual([200, 200]);
  expect(await askBoth(tenant)).toEqual([429, 429]);
  await limitAccount(tenant, { requests_per_minute_max: null });
  expect(await askBoth(tenant)).toEqual([200, 200]);
});

test('a changed limit of a key holds likewise, and for that key alone', async () => {
  const tenant = await first.createTenant();
  const other = await first.admin('POST', `/admin/applications/${tenant.applicationId}/keys`, {
    body: { name: 'other', scopes: ['account:read'] },
  });
  await limitKey(tenant, { requests_per_minute_max: 2 });
  expect(await askBoth(tenant)).toEqual([200, 200]);
  expect(await askBoth(tenant)).toEqual([429, 429]);
  expect(await askBoth({ ...tenant, key: String(other.json['key']) })).toEqual([200, 200]);
});

test('over a limit the answer is 429 with Retry-After, and nothing has happened', async () => {
  const tenant = await first.createTenant();
  await limitAccount(tenant, { requests_per_minute_max: 1 });
  expect((await first.request(tenant.key, 'GET', '/v1/account')).status).toBe(200);
  const before = second.owners.charges.requests.length;
  const answer = await readCharge(second, tenant);
  expect(answer.status).toBe(429);
  expect(answer.text).toBe(
    '{"code":"RATE_LIMITED","message":"Too many requests of this account. The header Retry-After says when to go on.","details":[]}',
  );
  expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect(second.owners.charges.requests).toHaveLength(before);
});

test.each(['account', 'key'])(
  'requests in flight of one %s are counted over both gateways',
  async (whose) => {
    const tenant = await first.createTenant();
    const set = whose === 'key' ? limitKey : limitAccount;
    await set(tenant, { requests_in_flight_max: 2 });
    const held = holdAnswers();
    const running = [readCharge(first, tenant), readCharge(second, tenant)];
    await eventually(() => expect(held).toHaveLength(2));
    for (const gateway of [first, second]) {
      const refused = await gateway.request(tenant.key, 'GET', '/v1/account');
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
      expect(refused.json['message']).toContain('in flight');
    }
    answerHeld(held);
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    await eventually(async () => expect(await askBoth(tenant)).toEqual([200, 200]));
  },
);

test.each(['account', 'key'])(
  'what is in flight of one %s when its limit is set counts from the next request',
  async (whose) => {
    const tenant = await first.createTenant();
    const held = holdAnswers();
    const running = [readCharge(first, tenant), readCharge(first, tenant)];
    await eventually(() => expect(held).toHaveLength(2));
    await (whose === 'key' ? limitKey : limitAccount)(tenant, { requests_in_flight_max: 2 });
    expect((await first.request(tenant.key, 'GET', '/v1/account')).status).toBe(429);
    const shown = await readLimits(tenant);
    const [ofKey] = shown['keys'] as Record<string, unknown>[];
    const { requests_in_flight: used } = whose === 'key' ? (ofKey ?? {}) : shown;
    expect(used).toEqual({ max: 2, used: 2, counted_by: 'all_gateways' });
    answerHeld(held);
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    await eventually(async () => expect(await askBoth(tenant)).toEqual([200, 200]));
  },
);

test('a client that leaves does not end what is done for its request', async () => {
  const tenant = await first.createTenant();
  await limitKey(tenant, { requests_in_flight_max: 1 });
  const held = holdAnswers();
  const leaving = new AbortController();
  const left = fetch(`http://127.0.0.1:${first.ports.public}/v1/charges/${newId()}`, {
    headers: { 'x-api-key': tenant.key },
    signal: leaving.signal,
  }).catch(() => null);
  await eventually(() => expect(held).toHaveLength(1));
  leaving.abort();
  expect(await left).toBeNull();
  expect(await askBoth(tenant)).toEqual([429, 429]);
  answerHeld(held);
  await eventually(async () => expect(await askBoth(tenant)).toEqual([200, 200]));
});

test('a request whose client has left before its work is not forwarded', async () => {
  const tenant = await first.createTenant();
  await limitKey(tenant, { requests_in_flight_max: 1 });
  const { db } = first.database;
  const forwarded = first.owners.charges.requests.length;
  const requestId = newId();
  await db.transaction(async (tx) => {
    await tx.query(sql`lock table api_keys in access exclusive mode`);
    const leaving = new AbortController();
    const left = fetch(`http://127.0.0.1:${first.ports.public}/v1/charges/${requestId}`, {
      headers: { 'x-api-key': tenant.key },
      signal: leaving.signal,
    }).catch(() => null);
    await eventually(async () => {
      const waiting = sql`
        select from pg_locks
        where not granted and relation = 'api_keys'::regclass
          and database = (select oid from pg_database where datname = current_database())`;
      expect(await db.query(waiting)).not.toEqual([]);
    });
    leaving.abort();
    expect(await left).toBeNull();
    await eventually(async () => {
      const rows = sql`select from request_log where status = 499 and key_id is null`;
      expect(await db.query(rows)).toHaveLength(1);
    });
  });
  await eventually(async () => expect(await askBoth(tenant)).toEqual([200, 200]));
  expect(first.owners.charges.requests).toHaveLength(forwarded);
});

test('a place is leased for ten seconds at most', async () => {
  const tenant = await first.createTenant();
  await limitKey(tenant, { requests_in_flight_max: 1 });
  const held = holdAnswers();
  const running = readCharge(first, tenant);
  await eventually(() => expect(held).toHaveLength(1));
  const redis = await connectTestRedis();
  try {
    const leftMs = await redis.pTTL(COUNTERS.inFlight(tenant.keyId));
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(10_000);
  } finally {
    redis.destroy();
  }
  answerHeld(held);
  expect((await running).status).toBe(200);
});

test('a request that is refused after it was admitted gives its place back', async () => {
  const tenant = await first.createTenant({ scopes: ['account:read'] });
  await limitAccount(tenant, { requests_in_flight_max: 1 });
  for (let count = 0; count < 3; count += 1) {
    await eventually(async () => {
      expect((await first.request(tenant.key, 'GET', '/v1/balance')).status).toBe(403);
    });
  }
});

test('operators see limits and what is used of them', async () => {
  const tenant = await first.createTenant();
  await limitAccount(tenant, {
    requests_per_minute_max: 10,
    endpoints_max: 5,
    deliveries_per_second_max: 7,
  });
  await limitKey(tenant, { requests_in_flight_max: 4 });
  expect(await askBoth(tenant)).toEqual([200, 200]);
  await eventually(async () => {
    expect(await readLimits(tenant, second)).toEqual({
      object: 'limits',
      account_id: tenant.accountId,
      counted_by: 'all_gateways',
      requests_per_minute: { max: 10, used: 2 },
      unavailable: [],
      requests_in_flight: { max: null, used: 0, counted_by: 'this_gateway' },
      endpoints: { max: 5, used: 3 },
      deliveries_per_second: { max: 7, in_force: 6, reached: true },
      keys: [
        {
          id: tenant.keyId,
          requests_per_minute: { max: null, used: null },
          requests_in_flight: { max: 4, used: 0, counted_by: 'all_gateways' },
        },
      ],
      has_more_keys: false,
      key_default: null,
    });
  });
  expect((await first.admin('GET', `/admin/accounts/${newId()}/limits`)).status).toBe(404);
});

/** Has the dispatcher behind a gateway answer otherwise until the end of the test. */
function useOf({ owners: { dispatcher } }: TestGateway, answer: (to: ServerResponse) => void) {
  dispatcher.answerWith(answer);
  onTestFinished(() => dispatcher.answerWith((to) => answerJson(to, 200, { body: USE })));
}

test('without a limit operators see what this gateway has in flight, and no other', async () => {
  const tenant = await first.createTenant();
  await limitKey(tenant, { requests_per_minute_max: 100 });
  const held = holdAnswers();
  const running = [first, first, second].map((gateway) => readCharge(gateway, tenant));
  await eventually(() => expect(held).toHaveLength(3));
  for (const [gateway, used] of [
    [first, 2],
    [second, 1],
  ] as const) {
    const inFlight = { max: null, used, counted_by: 'this_gateway' };
    expect(await readLimits(tenant, gateway)).toMatchObject({
      counted_by: 'all_gateways',
      requests_in_flight: inFlight,
      keys: [{ requests_in_flight: inFlight }],
    });
  }
  answerHeld(held);
  await Promise.all(running);
});

test.each<[string, (response: ServerResponse) => void]>([
  ['is away', (response) => void response.destroy()],
  ['fails', (response) => answerJson(response, 500, { body: { code: 'INTERNAL_ERROR' } })],
])('while the dispatcher %s, limits are shown without its part', async (_how, answer) => {
  const tenant = await first.createTenant();
  await limitAccount(tenant, {
    requests_per_minute_max: 10,
    endpoints_max: 5,
    deliveries_per_second_max: 7,
  });
  useOf(first, answer);
  expect(await readLimits(tenant)).toMatchObject({
    unavailable: ['webhook-dispatcher'],
    requests_per_minute: { max: 10, used: 0 },
    endpoints: { max: 5, used: null },
    deliveries_per_second: { max: 7, in_force: null, reached: null },
  });
  expect((await first.admin('GET', `/admin/accounts/${newId()}/limits`)).status).toBe(404);
});

test('a dispatcher of an older version does not say whether a limit of deliveries is reached', async () => {
  const tenant = await first.createTenant();
  const { deliveries_reached: _unsaid, ...older } = USE;
  useOf(second, (response) => answerJson(response, 200, { body: older }));
  expect(await readLimits(tenant, second)).toMatchObject({
    unavailable: [],
    deliveries_per_second: { in_force: 6, reached: null },
  });
});

test('who has no limit is admitted without Redis being asked', async () => {
  const { hostname: host, port } = new URL(testInfra().redis.urls.gateway);
  await using proxy = await startPausableProxy({ host, port: Number(port) });
  await using gateway = await startTestGateway({
    ...testRedisVariables('gateway', proxy.port),
    RATE_LIMIT_TIMEOUT_MS: '60000',
  });
  const { key } = await gateway.createTenant();
  await eventually(() => expect(proxy.connections()).toBeGreaterThan(0));
  proxy.pause();
  for (let count = 0; count < 3; count += 1) {
    expect((await gateway.request(key, 'GET', '/v1/account')).status).toBe(200);
  }
});
