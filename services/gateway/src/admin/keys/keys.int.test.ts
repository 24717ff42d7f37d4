import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestGateway, type Tenant, type TestGateway } from '#test/start-test-gateway.ts';

let gateway: TestGateway;
let tenant: Tenant;
let path: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  tenant = await gateway.createTenant();
  path = `/admin/applications/${tenant.applicationId}/keys`;
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function readActions(targetId: unknown): Promise<unknown[]> {
  const answer = await gateway.admin('GET', `/admin/audit?target_id=${String(targetId)}`);
  return (answer.json['data'] as { action: string }[]).map((entry) => entry.action);
}

describe('creating a key', () => {
  test('shows it once and stores its digest alone', async () => {
    const body = {
      name: 'main',
      scopes: ['charge:write', 'charge:read', 'charge:read'],
      expires_at: '2031-01-01T00:00:00.123456-03:00',
    };
    const answer = await gateway.admin('POST', path, { body });
    expect(answer.status).toBe(201);
    const { key, ...resource } = answer.json;
    expect(resource).toEqual({
      id: expect.any(String) as string,
      object: 'key',
      account_id: tenant.accountId,
      application_id: tenant.applicationId,
      public_id: String(key).slice(4, 16),
      name: 'main',
      scopes: ['charge:read', 'charge:write'],
      suspended: false,
      expires_at: '2031-01-01T03:00:00.123Z',
      revoked_at: null,
      requests_per_minute_max: null,
      requests_in_flight_max: null,
      created_at: expect.any(String) as string,
    });
    const list = await gateway.admin('GET', path);
    expect(list.json['data']).toContainEqual(resource);
    expect(list.text).not.toContain(String(key));
    const rows = await gateway.database.db.query(
      sql`select * from api_keys where id = ${String(resource['id'])}`,
    );
    expect(JSON.stringify(rows)).not.toContain(String(key).slice(16));
    expect(await readActions(resource['id'])).toEqual(['key.created']);
  });

  test.each([
    { body: {}, details: ['name', 'scopes'] },
    { body: { name: 'x', scopes: 'charge:read' }, details: ['scopes'] },
    { body: { name: 'x', scopes: ['charge:all'] }, details: ['scopes.0'] },
    { body: { name: 'x', scopes: [], expires_at: 'tomorrow' }, details: ['expires_at'] },
    {
      body: { name: 'x', scopes: [], expires_at: '2031-02-30T00:00:00Z' },
      details: ['expires_at'],
    },
    { body: { name: 'x', scopes: [], expires_at: '2031-01-01T00:00:00' }, details: ['expires_at'] },
  ])('is refused with its faulty fields: $details', async ({ body, details }) => {
    const answer = await gateway.admin('POST', path, { body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code: 'VALIDATION_ERROR', details });
  });

  test('for an application that does not exist is a 404', async () => {
    for (const id of [newId(), 'x']) {
      const answer = await gateway.admin('POST', `/admin/applications/${id}/keys`, {
        body: { name: 7 },
      });
      expect([answer.status, answer.json['code']]).toEqual([404, 'NOT_FOUND']);
    }
  });

  test('under one Idempotency-Key makes one, and a replay does not show it', async () => {
    const headers = ['Idempotency-Key', 'key-creation-0001'];
    const body = { name: 'once', scopes: ['charge:read'] };
    const first = await gateway.admin('POST', path, { body, headers });
    const { key, ...resource } = first.json;
    expect((await gateway.request(String(key), 'GET', `/v1/charges/${newId()}`)).status).toBe(200);
    const replay = await gateway.admin('POST', path, { body, headers });
    expect(replay.status).toBe(201);
    expect(replay.json).toEqual(resource);
    expect(replay.headers['idempotent-replayed']).toBe('true');
    const other = await gateway.admin('POST', path, { body: { ...body, scopes: [] }, headers });
    expect(other.json).toEqual(resource);
    expect(other.headers['idempotency-mismatch']).toBe('true');
    expect(await readActions(resource['id'])).toEqual(['key.created']);
  });

  test('in parallel under one Idempotency-Key shows one key', async () => {
    const body = { name: 'race', scopes: ['account:read'] };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        gateway.admin('POST', path, { body, headers: ['Idempotency-Key', 'key-creation-0002'] }),
      ),
    );
    const shown = answers.flatMap(({ json }) =>
      typeof json['key'] === 'string' ? json['key'] : [],
    );
    expect(shown).toHaveLength(1);
    expect((await gateway.request(shown[0] ?? null, 'GET', '/v1/account')).status).toBe(200);
  });
});

describe('a key', () => {
  test('can be suspended and dated until it is revoked, and then stays so', async () => {
    const { json } = await gateway.admin('POST', path, { body: { name: 'x', scopes: [] } });
    const one = `/admin/keys/${String(json['id'])}`;
    const at = '2031-01-01T00:00:00.000Z';
    const changed = await gateway.admin('PATCH', one, {
      body: { suspended: true, expires_at: at },
    });
    expect(changed.json).toMatchObject({ id: json['id'], suspended: true, expires_at: at });
    expect(changed.json).not.toHaveProperty('key');
    expect((await gateway.admin('PATCH', one, { body: { suspended: null } })).json).toEqual(
      changed.json,
    );
    expect((await gateway.admin('PATCH', one, { body: { expires_at: null } })).json).toEqual({
      ...changed.json,
      expires_at: null,
    });
    expect((await gateway.admin('PATCH', one, { body: { suspended: 'no' } })).status).toBe(400);
    expect((await gateway.admin('DELETE', one)).status).toBe(204);
    expect((await gateway.admin('DELETE', one)).status).toBe(204);
    const late = await gateway.admin('PATCH', one, { body: { suspended: false } });
    expect([late.status, late.json['code']]).toEqual([409, 'CONFLICT']);
    expect(await readActions(json['id'])).toEqual([
      'key.revoked',
      'key.updated',
      'key.updated',
      'key.updated',
      'key.created',
    ]);
  });

  test.each(['PATCH', 'DELETE'])('that does not exist is a 404: %s', async (method) => {
    for (const id of [newId(), 'x']) {
      const answer = await gateway.admin(method, `/admin/keys/${id}`, {
        body: method === 'PATCH' ? {} : undefined,
      });
      expect([answer.status, answer.json['code']]).toEqual([404, 'NOT_FOUND']);
    }
  });

  test('is listed under its own application alone, newest first', async () => {
    const other = await gateway.createTenant();
    const own = `/admin/applications/${other.applicationId}/keys`;
    const second = await gateway.admin('POST', own, { body: { name: 'second', scopes: [] } });
    const list = await gateway.admin('GET', `${own}?limit=1`);
    expect(list.json).toMatchObject({ has_more: true, data: [{ id: second.json['id'] }] });
    const rest = await gateway.admin('GET', `${own}?starting_after=${String(second.json['id'])}`);
    expect(rest.json).toMatchObject({ has_more: false, data: [{ id: other.keyId }] });
    const foreign = await gateway.admin('GET', `${path}?limit=1&starting_after=${other.keyId}`);
    expect(foreign.json).toMatchObject({ code: 'VALIDATION_ERROR', details: ['starting_after'] });
    expect((await gateway.admin('GET', `/admin/applications/${newId()}/keys`)).status).toBe(404);
  });
});
