import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { sendRaw } from '@pixmesh/http/testing/raw-request';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { ROWS_MAX, ROWS_PER_SOURCE_MAX } from '#request-log/sample-unauthenticated.ts';
import { sendRequest } from '#test/send-request.ts';
import {
  BOOTSTRAP_TOKEN,
  CALLBACK_SECRET,
  startTestGateway,
  type TestGateway,
} from '#test/start-test-gateway.ts';

const CONNECTIONS_MAX = 4;
const ORIGIN = 'https://app.example.com';
const CLIENT = '198.51.100.9';
const LISTENERS = ['public', 'admin', 'callback'] as const;

/** One that meets its callers itself, and one that has a proxy before it. */
let open: TestGateway;
let behind: TestGateway;

beforeAll(async () => {
  const bound = { CONNECTIONS_PER_ADDRESS_MAX: String(CONNECTIONS_MAX) };
  open = await startTestGateway(bound);
  behind = await startTestGateway({
    ...bound,
    TRUSTED_PROXIES: '127.0.0.1',
    HSTS_MAX_AGE_SECONDS: '31536000',
    CORS_ALLOWED_ORIGINS: ORIGIN,
  });
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await behind[Symbol.asyncDispose]();
});

/** The stored address of one request, or of one change by an operator. */
async function addressOf(gateway: TestGateway, path: string): Promise<unknown> {
  return await eventually(async () => {
    const { json } = await gateway.admin('GET', path);
    const [row] = json['data'] as { client_address: string }[];
    if (row === undefined) throw new Error('not stored yet');
    return row.client_address;
  });
}

describe('the address of a client', () => {
  test.each([
    ['is that of the connection, whatever it says of itself', () => open, '127.0.0.1'],
    ['is what a trusted proxy says', () => behind, CLIENT],
  ])('%s: in the request log and in the audit log', async (_what, gatewayOf, expected) => {
    const gateway = gatewayOf();
    const headers = ['X-Forwarded-For', `192.0.2.1, ${CLIENT}`];
    const { key } = await gateway.createTenant();
    const { port } = { port: gateway.ports.public };
    const answer = await sendRequest({
      port,
      path: '/v1/account',
      headers: ['x-api-key', key, ...headers],
    });
    expect(answer.status).toBe(200);
    const id = String(answer.headers['x-request-id']);
    expect(await addressOf(gateway, `/admin/requests?request_id=${id}`)).toBe(expected);
    const made = await gateway.admin('POST', '/admin/operators', {
      body: { name: 'Ana' },
      headers,
    });
    const path = `/admin/audit?target_id=${String(made.json['id'])}`;
    expect(await addressOf(gateway, path)).toBe(expected);
  });

  test.each([
    { name: 'an ambiguous request', path: '/v1/account', headers: ['Host', 'a', 'Host', 'b'] },
    { name: 'an id without characters', path: '/v1/charges/', headers: [] },
  ])('is in the request log for $name, which no route sees', async ({ path, headers }) => {
    const answer = await sendRequest({
      port: behind.ports.public,
      path,
      headers: [...headers, 'X-Forwarded-For', CLIENT],
    });
    const id = String(answer.headers['x-request-id']);
    expect(await addressOf(behind, `/admin/requests?request_id=${id}`)).toBe(CLIENT);
  });
});

describe('connections of one address', () => {
  async function openSockets(port: number, count: number): Promise<Socket[]> {
    const sockets = Array.from({ length: count }, () =>
      connect(port, '127.0.0.1').on('error', () => undefined),
    );
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    return sockets;
  }

  test('rest for long only once something was accepted on them', async () => {
    const { key } = await open.createTenant();
    const ask = async (
      listener: (typeof LISTENERS)[number],
      path: string,
      ...lines: string[]
    ): Promise<Socket> => {
      const [socket] = (await openSockets(open.ports[listener], 1)) as [Socket];
      onTestFinished(() => void socket.destroy());
      const head = [`${path} HTTP/1.1`, 'Host: a', 'Content-Length: 0', ...lines, '', ''];
      socket.write(head.join('\r\n'));
      await once(socket, 'data');
      return socket;
    };
    const accepted = [
      await ask('public', 'GET /v1/account', `X-Api-Key: ${key}`),
      await ask('admin', 'GET /admin/accounts', `Authorization: Bearer ${BOOTSTRAP_TOKEN}`),
      await ask('callback', `POST /acquirer/${CALLBACK_SECRET}`),
    ];
    const refused = [
      await ask('public', 'GET /v1/account'),
      await ask('admin', 'GET /admin/accounts'),
      await ask('callback', 'POST /acquirer/nothing'),
    ];
    await Promise.all(refused.map((socket) => once(socket.resume(), 'close')));
    expect(accepted.map(({ closed }) => closed)).toEqual([false, false, false]);
  });

  test.each(LISTENERS)('are bounded, and one that ends makes room: %s', async (listener) => {
    const port = open.ports[listener];
    const sockets = await openSockets(port, CONNECTIONS_MAX);
    const refused = await openSockets(port, 2);
    for (const socket of refused) {
      if (!socket.closed) await once(socket.resume(), 'close');
    }
    expect(sockets.every((socket) => !socket.closed)).toBe(true);
    sockets[0]?.destroy();
    await eventually(async () => {
      const { status } = await sendRequest({ port, path: '/nothing' });
      expect(status).toBe(404);
    });
    for (const socket of sockets) socket.destroy();
  });

  test('are not bounded where they are a trusted proxy’s', async () => {
    const port = behind.ports.public;
    const sockets = await openSockets(port, 3 * CONNECTIONS_MAX);
    expect((await sendRequest({ port, path: '/nothing' })).status).toBe(404);
    expect(sockets.some((socket) => socket.closed)).toBe(false);
    for (const socket of sockets) socket.destroy();
  });
});

describe('browsers', () => {
  test.each(LISTENERS)(
    'are asked to come by HTTPS where that is configured: %s',
    async (listener) => {
      const header = 'strict-transport-security';
      const sent = (gateway: TestGateway) =>
        sendRequest({ port: gateway.ports[listener], path: '/nothing' });
      await eventually(async () => expect((await sent(open)).headers).not.toHaveProperty(header));
      expect((await sent(behind)).headers).toMatchObject({ [header]: 'max-age=31536000' });
    },
  );

  test('take no answer for another type than it names, also where it answers no HTTP', async () => {
    const { head } = await sendRaw(behind.ports.public, 'FROB / HTTP/1.1\r\n\r\n');
    expect(head).toContain('x-content-type-options: nosniff');
  });
});

describe('a page of another site', () => {
  const preflight = (method: string) => ['Access-Control-Request-Method', method];

  function ask(gateway: TestGateway, method: string, path: string, headers: readonly string[]) {
    return sendRequest({ port: gateway.ports.public, method, path, headers });
  }

  const namesOf = ({ headers }: { headers: object }): string[] =>
    Object.keys(headers).filter((name) => name.startsWith('access-control-'));

  test('reads /v1 where its origin is allowed, refusals too', async () => {
    const { key } = await behind.createTenant();
    const origin = ['Origin', ORIGIN];
    const asked = await ask(behind, 'OPTIONS', '/v1/account', [...origin, ...preflight('GET')]);
    expect([asked.status, asked.text]).toEqual([204, '']);
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'x-api-key',
      vary: 'origin',
    });
    for (const [path, headers, status] of [
      ['/v1/account', ['x-api-key', key], 200],
      ['/v1/account', [], 401],
      ['/v1/charges/', ['x-api-key', key], 404],
    ] as const) {
      const answer = await ask(behind, 'GET', path, [...origin, ...headers]);
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': ORIGIN,
        'access-control-expose-headers': 'x-request-id, retry-after',
        vary: 'origin',
      });
    }
  });

  test.each([
    [
      'of another origin',
      () => behind,
      'OPTIONS',
      '/v1/account',
      'https://evil.example',
      'GET',
      405,
    ],
    ['of another origin', () => behind, 'GET', '/v1/account', 'https://evil.example', 'GET', 401],
    ['that would create', () => behind, 'OPTIONS', '/v1/charges', ORIGIN, 'POST', 405],
    ['that creates', () => behind, 'POST', '/v1/charges', ORIGIN, 'POST', 401],
    ['outside of /v1', () => behind, 'OPTIONS', '/openapi.json', ORIGIN, 'GET', 405],
    ['where none is configured', () => open, 'OPTIONS', '/v1/account', ORIGIN, 'GET', 405],
    ['where none is configured', () => open, 'GET', '/v1/account', ORIGIN, 'GET', 401],
  ] as const)('%s is allowed nothing', async (...row) => {
    const [, gatewayOf, method, path, origin, asked, status] = row;
    const headers = ['Origin', origin, ...preflight(asked)];
    await eventually(async () => {
      const answer = await ask(gatewayOf(), method, path, headers);
      expect([answer.status, namesOf(answer)]).toEqual([status, []]);
    });
  });
});

test('requests without an accepted key are sampled in the log, those with one are all there', async () => {
  // A minute may end in between, and what is stored of one source begins anew.
  const storedMax = 2 * ROWS_PER_SOURCE_MAX;
  const strangers = storedMax + 20;
  const { key, keyId } = await behind.createTenant({ scopes: [] });
  const send = (apiKey: string) =>
    sendRequest({
      port: behind.ports.public,
      path: '/v1/account',
      headers: ['x-api-key', apiKey, 'X-Forwarded-For', '203.0.113.77'],
    });
  await Promise.all(Array.from({ length: strangers }, () => send('pxm_nothing')));
  const refused = await Promise.all(Array.from({ length: strangers }, () => send(key)));
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([403]));
  await eventually(async () => {
    const [stored] = await behind.database.db.query<{ known: number; strangers: number }>(sql`
      select count(*) filter (where key_id = ${keyId})::int as known,
             count(*) filter (where key_id is null)::int as strangers
      from request_log where client_address = '203.0.113.77'`);
    expect(stored?.known).toBe(strangers);
    expect(stored?.strangers).toBeGreaterThan(0);
    expect(stored?.strangers).toBeLessThanOrEqual(storedMax);
  });
});

test('a merchant’s key that is refused is found in the log while strangers flood it from many addresses', async () => {
  const { key, keyId } = await behind.createTenant();
  await behind.admin('PATCH', `/admin/keys/${keyId}`, { body: { suspended: true } });
  const send = (apiKey: string, from: string) =>
    sendRequest({
      port: behind.ports.public,
      path: '/v1/account',
      headers: ['x-api-key', apiKey, 'X-Forwarded-For', from],
    });
  const flood = Array.from({ length: 2 * ROWS_MAX }, (_, n) => send('pxm_nothing', `10.9.8.${n}`));
  await Promise.all(flood);
  const { status, headers } = await send(key, '203.0.113.78');
  expect(status).toBe(401);
  const id = String(headers['x-request-id']);
  expect(await addressOf(behind, `/admin/requests?request_id=${id}`)).toBe('203.0.113.78');
});
