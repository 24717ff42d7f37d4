import { sql } from '@pixmesh/postgres/sql';
import { createPool } from '@pixmesh/postgres/pool';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { sendRaw } from '@pixmesh/http/testing/raw-request';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { newId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { answerJson } from '#test/start-fake-owner.ts';
import { sendRequest } from '#test/send-request.ts';
import { startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

import { startRequestLog } from './request-log.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

function findLogged(requestId: unknown) {
  return eventually(async () => {
    const list = await gateway.admin('GET', `/admin/requests?request_id=${String(requestId)}`);
    const [row] = list.json['data'] as Record<string, unknown>[];
    if (row === undefined) throw new Error('not logged yet');
    return row;
  });
}

describe('a request on /v1', () => {
  test('is logged with key, route template, status and duration, and nothing else', async () => {
    const tenant = await gateway.createTenant();
    const id = newId();
    const answer = await gateway.request(tenant.key, 'GET', `/v1/charges/${id}?secret=1`);
    const row = await findLogged(answer.headers['x-request-id']);
    expect(row).toEqual({
      id: expect.any(String) as string,
      object: 'request',
      account_id: tenant.accountId,
      application_id: tenant.applicationId,
      key_id: tenant.keyId,
      method: 'GET',
      route: '/v1/charges/:id',
      status: 200,
      duration_ms: expect.any(Number) as number,
      request_id: answer.headers['x-request-id'],
      client_address: '127.0.0.1',
      trace_id: null,
      idempotency_mismatch: false,
      created_at: expect.stringMatching(/Z$/) as string,
    });
  });

  test('that was refused is logged too, without a key where none was accepted', async () => {
    const answer = await gateway.request('pxm_nothing', 'GET', '/v1/account');
    expect(await findLogged(answer.headers['x-request-id'])).toMatchObject({
      key_id: null,
      account_id: null,
      application_id: null,
      route: '/v1/account',
      status: 401,
    });
    const tenant = await gateway.createTenant({ scopes: [] });
    const forbidden = await gateway.request(tenant.key, 'GET', '/v1/account');
    expect(await findLogged(forbidden.headers['x-request-id'])).toMatchObject({
      key_id: tenant.keyId,
      status: 403,
    });
  });

  test.each([
    { status: 404, route: null, sent: { path: '/nothing' } },
    { status: 404, route: null, sent: { path: '/v1/payouts/' } },
    { status: 405, route: null, sent: { path: '/v1/account', method: 'DELETE' } },
    { status: 401, route: '/v1/charges/:id', sent: { path: '/v1/charges/%zz' } },
    { status: 200, route: '/v1/charges/:id', sent: { path: '/v1/charges/%zz', withKey: true } },
    {
      status: 413,
      route: '/v1/charges',
      sent: { path: '/v1/charges', method: 'POST', withKey: true, body: 'x'.repeat(70_000) },
    },
  ])('of any kind is logged: $status of $sent.path', async ({ status, route, sent }) => {
    const tenant = await gateway.createTenant();
    const { withKey = false, ...request } = sent;
    const answer = await sendRequest({
      ...request,
      port: gateway.ports.public,
      headers: withKey ? ['x-api-key', tenant.key, 'Idempotency-Key', 'order-0001'] : [],
    });
    expect(answer.status).toBe(status);
    expect(await findLogged(answer.headers['x-request-id'])).toMatchObject({
      id: answer.headers['x-request-id'],
      method: request.method ?? 'GET',
      route,
      status,
      key_id: withKey ? tenant.keyId : null,
    });
  });

  test('that was no HTTP is logged without method and route', async () => {
    const answer = await sendRaw(gateway.ports.public, 'FROB /v1/account HTTP/1.1\r\n\r\n');
    const requestId = /x-request-id: (\S+)/.exec(answer.head)?.[1];
    expect(await findLogged(requestId)).toMatchObject({
      method: null,
      route: null,
      status: 400,
      key_id: null,
    });
  });

  test('whose client left is logged as such', async () => {
    const tenant = await gateway.createTenant();
    const asked = Promise.withResolvers<void>();
    gateway.owners.charges.answerWith(() => asked.resolve());
    const leaving = new AbortController();
    const left = fetch(`http://127.0.0.1:${gateway.ports.public}/v1/charges/${newId()}`, {
      headers: { 'x-api-key': tenant.key },
      signal: leaving.signal,
    });
    await asked.promise;
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    await eventually(async () => {
      const list = await gateway.admin('GET', `/admin/requests?key_id=${tenant.keyId}`);
      expect(list.json['data']).toEqual([
        expect.objectContaining({ status: 499, route: '/v1/charges/:id' }),
      ]);
    });
  });

  test('that repeats a key with another body is marked', async () => {
    const tenant = await gateway.createTenant();
    gateway.owners.charges.answerWith((response) =>
      answerJson(response, 201, {
        body: {},
        headers: { 'idempotent-replayed': 'true', 'idempotency-mismatch': 'true' },
      }),
    );
    const answer = await sendRequest({
      port: gateway.ports.public,
      method: 'POST',
      path: '/v1/charges',
      headers: ['x-api-key', tenant.key, 'Idempotency-Key', 'order-0001'],
      body: '{}',
    });
    expect(await findLogged(answer.headers['x-request-id'])).toMatchObject({
      status: 201,
      idempotency_mismatch: true,
    });
  });

  test('is found by each filter, newest first, page by page', async () => {
    const tenant = await gateway.createTenant();
    const ids: unknown[] = [];
    for (let count = 0; count < 3; count += 1) {
      const answer = await gateway.request(tenant.key, 'GET', '/v1/account');
      ids.unshift(answer.headers['x-request-id']);
    }
    await findLogged(ids[0]);
    const path = `/admin/requests?key_id=${tenant.keyId}&route=/v1/account&status=200&method=GET&limit=2`;
    const first = await gateway.admin('GET', `${path}&account_id=${tenant.accountId}`);
    const data = first.json['data'] as { id: string; request_id: string }[];
    expect(data.map((row) => row.request_id)).toEqual(ids.slice(0, 2));
    expect(first.json['has_more']).toBe(true);
    const rest = await gateway.admin('GET', `${path}&starting_after=${data[1]?.id}`);
    expect((rest.json['data'] as { request_id: string }[]).map((row) => row.request_id)).toEqual([
      ids[2],
    ]);
    expect(rest.json['has_more']).toBe(false);
    const none = await gateway.admin('GET', `${path}&application_id=${newId()}`);
    expect(none.json['data']).toEqual([]);
    const unknown = await gateway.admin('GET', `${path}&starting_after=${newId()}`);
    expect(unknown.json).toMatchObject({ code: 'VALIDATION_ERROR', details: ['starting_after'] });
  });
});

describe('the log itself', () => {
  const logger = createLogger('test', 'silent');
  const request = {
    caller: null,
    method: 'GET',
    route: '/v1/account',
    status: 200,
    durationMs: 1,
    clientAddress: null,
    traceId: null,
    idempotencyMismatch: false,
  };

  test('writes what it still holds when it is stopped', async () => {
    await using database = await createTestDatabase('gateway');
    const log = startRequestLog({ db: database.db, logger });
    for (let count = 0; count < 1_234; count += 1) log.record({ ...request, requestId: newId() });
    await log[Symbol.asyncDispose]();
    const [row] = await database.db.query<{ rows: number }>(
      sql`select count(*)::int as rows from request_log`,
    );
    expect(row?.rows).toBe(1_234);
  });

  test('is bounded and harmless while its database is away', async () => {
    const away = createPool({ url: 'postgres://x:y@127.0.0.1:1/none', applicationName: 'test' });
    const lines: string[] = [];
    const log = startRequestLog({
      db: away,
      logger: createLogger('gateway', 'warn', { write: (line) => void lines.push(line) }),
    });
    const failures = () => lines.filter((line) => line.includes('request log rows not written'));
    for (let count = 0; count < 25_000; count += 1) log.record({ ...request, requestId: newId() });
    await eventually(() => expect(failures()).toHaveLength(1));
    log.record({ ...request, requestId: newId() });
    await expect(log[Symbol.asyncDispose]()).resolves.toBeUndefined();
    expect(failures()).toHaveLength(1);
    await away[Symbol.asyncDispose]();
  });

  test('can be added to and read by the service, not changed', async () => {
    await using database = await createTestDatabase('gateway');
    for (const statement of [
      sql`update request_log set status = 1`,
      sql`delete from request_log`,
      sql`truncate request_log`,
    ]) {
      await expect(database.db.query(statement)).rejects.toMatchObject({ code: '42501' });
    }
  });
});
