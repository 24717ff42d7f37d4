import { newId, uuidV5 } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

let gateway: TestGateway;
let accountId: string;
let path: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ accountId } = await gateway.createTenant());
  path = `/admin/accounts/${accountId}/applications`;
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function countAudit(targetId: unknown): Promise<number> {
  const answer = await gateway.admin('GET', `/admin/audit?target_id=${String(targetId)}`);
  return (answer.json['data'] as unknown[]).length;
}

describe('creating an application', () => {
  test('stores it under its account with an audit entry', async () => {
    const answer = await gateway.admin('POST', path, { body: { name: ' shop ' } });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      id: expect.any(String) as string,
      object: 'application',
      account_id: accountId,
      name: 'shop',
      active: true,
      created_at: expect.any(String) as string,
    });
    expect(answer.headers).not.toHaveProperty('idempotent-replayed');
    expect(await countAudit(answer.json['id'])).toBe(1);
  });

  test.each([{}, { name: null }, { name: 'x', active: 'yes' }])('is refused: %j', async (body) => {
    const answer = await gateway.admin('POST', path, { body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  test.each([newId(), 'not-a-uuid'])(
    'for an account that does not exist is a 404: %s',
    async (id) => {
      const answer = await gateway.admin('POST', `/admin/accounts/${id}/applications`, {
        body: {
          name: 'x',
        },
      });
      expect([answer.status, answer.json['code']]).toEqual([404, 'NOT_FOUND']);
    },
  );

  test('under one Idempotency-Key makes one, whatever the later bodies', async () => {
    const headers = ['Idempotency-Key', 'application-0001'];
    const first = await gateway.admin('POST', path, { body: { name: 'once' }, headers });
    expect(first.json['id']).toBe(uuidV5(accountId, 'application:application-0001'));
    const same = await gateway.admin('POST', path, {
      body: { x: 1, active: true, name: 'once' },
      headers,
    });
    expect(same.status).toBe(201);
    expect(same.json).toEqual(first.json);
    expect(same.headers['idempotent-replayed']).toBe('true');
    expect(same.headers).not.toHaveProperty('idempotency-mismatch');
    for (const body of [{ name: 'other' }, { name: 7 }]) {
      const other = await gateway.admin('POST', path, { body, headers });
      expect(other.status).toBe(201);
      expect(other.json).toEqual(first.json);
      expect(other.headers).toMatchObject({
        'idempotent-replayed': 'true',
        'idempotency-mismatch': 'true',
      });
    }
    expect(await countAudit(first.json['id'])).toBe(1);
  });

  test('in parallel under one Idempotency-Key makes one, and exactly one answer is no replay', async () => {
    const headers = ['Idempotency-Key', 'application-0002'];
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        gateway.admin('POST', path, { body: { name: 'race' }, headers }),
      ),
    );
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.filter((answer) => !('idempotent-replayed' in answer.headers))).toHaveLength(1);
    expect(await countAudit(answers[0]?.json['id'])).toBe(1);
  });

  test('under the key of another account makes its own', async () => {
    const other = await gateway.createTenant();
    const headers = ['Idempotency-Key', 'application-0003'];
    const mine = await gateway.admin('POST', path, { body: { name: 'x' }, headers });
    const otherPath = `/admin/accounts/${other.accountId}/applications`;
    const theirs = await gateway.admin('POST', otherPath, { body: { name: 'x' }, headers });
    expect(theirs.headers).not.toHaveProperty('idempotent-replayed');
    expect(theirs.json['id']).not.toBe(mine.json['id']);
  });

  test('with an unusable Idempotency-Key is refused', async () => {
    const short = await gateway.admin('POST', path, {
      body: { name: 'x' },
      headers: ['Idempotency-Key', 'short'],
    });
    expect(short.json).toMatchObject({ code: 'IDEMPOTENCY_KEY_REQUIRED' });
    const long = await gateway.admin('POST', path, {
      body: { name: 'x' },
      headers: ['Idempotency-Key', 'k'.repeat(256)],
    });
    expect(long.json).toMatchObject({ code: 'VALIDATION_ERROR', details: ['Idempotency-Key'] });
  });
});

describe('an application', () => {
  test('can be renamed and switched off, each with an audit entry', async () => {
    const { json } = await gateway.admin('POST', path, { body: { name: 'before' } });
    const one = `/admin/applications/${String(json['id'])}`;
    expect((await gateway.admin('PATCH', one, { body: { active: false } })).json).toEqual({
      ...json,
      active: false,
    });
    expect(
      (await gateway.admin('PATCH', one, { body: { name: 'after', active: null } })).json,
    ).toEqual({
      ...json,
      name: 'after',
      active: false,
    });
    expect((await gateway.admin('PATCH', one, { body: { active: 1 } })).status).toBe(400);
    expect(await countAudit(json['id'])).toBe(3);
    expect(
      (await gateway.admin('PATCH', `/admin/applications/${newId()}`, { body: {} })).status,
    ).toBe(404);
  });

  test('is listed under its own account alone, newest first', async () => {
    const tenant = await gateway.createTenant();
    const own = `/admin/accounts/${tenant.accountId}/applications`;
    const second = await gateway.admin('POST', own, { body: { name: 'second', active: false } });
    const list = await gateway.admin('GET', `${own}?limit=1`);
    expect(list.json).toMatchObject({ has_more: true, data: [{ id: second.json['id'] }] });
    const active = await gateway.admin('GET', `${own}?active=true`);
    expect(active.json).toMatchObject({ has_more: false, data: [{ id: tenant.applicationId }] });
    const foreign = await gateway.admin('GET', `${path}?starting_after=${tenant.applicationId}`);
    expect(foreign.json).toMatchObject({ code: 'VALIDATION_ERROR', details: ['starting_after'] });
    expect((await gateway.admin('GET', `/admin/accounts/${newId()}/applications`)).status).toBe(
      404,
    );
  });
});
