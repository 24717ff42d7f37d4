import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { sendRequest } from '#test/send-request.ts';
import { BOOTSTRAP_TOKEN, startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

function adminAs(headers: readonly string[], path = '/admin/operators') {
  return sendRequest({ port: gateway.ports.admin, path, headers });
}

async function createOperator(name: string) {
  const answer = await gateway.admin('POST', '/admin/operators', { body: { name } });
  expect(answer.status).toBe(201);
  return answer.json as { id: string; token: string };
}

async function readAudit(query: string) {
  const answer = await gateway.admin('GET', `/admin/audit?${query}`);
  return answer.json['data'] as Record<string, unknown>[];
}

describe('an operator', () => {
  test('gets a token once, which is stored as a digest alone', async () => {
    const { id, token } = await createOperator('Ana');
    expect(Buffer.from(token.slice('pxo_'.length), 'base64url').length * 8).toBeGreaterThanOrEqual(
      160,
    );
    const list = await gateway.admin('GET', '/admin/operators');
    expect(list.json['data']).toEqual(
      expect.arrayContaining([
        { id, object: 'operator', name: 'Ana', created_at: expect.any(String) as string },
      ]),
    );
    expect(list.text).not.toContain(token);
    const rows = await gateway.database.db.query(sql`select * from operators where id = ${id}`);
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  test('acts under its own name until it is removed', async () => {
    const { id, token } = await createOperator('Bia');
    const created = await sendRequest({
      port: gateway.ports.admin,
      method: 'POST',
      path: '/admin/operators',
      headers: ['authorization', `Bearer ${token}`],
      body: '{"name":"Caio"}',
    });
    expect(created.status).toBe(201);
    expect(await readAudit(`actor=${id}`)).toMatchObject([
      { action: 'operator.created', target_id: created.json['id'], target_kind: 'operator' },
    ]);
    expect((await gateway.admin('DELETE', `/admin/operators/${id}`)).status).toBe(204);
    expect((await adminAs(['authorization', `Bearer ${token}`])).status).toBe(401);
    expect((await gateway.admin('DELETE', `/admin/operators/${id}`)).status).toBe(404);
    const entries = await readAudit(`target_id=${id}`);
    expect(entries.map((entry) => entry['action'])).toEqual([
      'operator.removed',
      'operator.created',
    ]);
    // The state that was created is the state that was removed.
    expect(entries[0]?.['digest_before']).toBe(entries[1]?.['digest_after']);
  });

  test.each([{}, { name: '' }, { name: 7 }, { name: 'a\nb' }, { name: 'x'.repeat(201) }])(
    'needs a name: %j',
    async (body) => {
      const answer = await gateway.admin('POST', '/admin/operators', { body });
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({ code: 'VALIDATION_ERROR', details: ['name'] });
    },
  );

  test.each(['not-a-uuid', newId()])('that does not exist cannot be removed: %s', async (id) => {
    const answer = await gateway.admin('DELETE', `/admin/operators/${id}`);
    expect([answer.status, answer.json['code']]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('a call on /admin', () => {
  test.each([
    { name: 'no token', headers: [] },
    { name: 'an unknown token', headers: ['authorization', 'Bearer pxo_unknown'] },
    { name: 'an empty token', headers: ['authorization', 'Bearer '] },
    { name: 'another scheme', headers: ['authorization', `Basic ${BOOTSTRAP_TOKEN}`] },
    { name: 'the token alone', headers: ['authorization', BOOTSTRAP_TOKEN] },
    {
      name: 'a prefix of the token',
      headers: ['authorization', `Bearer ${BOOTSTRAP_TOKEN.slice(0, -1)}`],
    },
    {
      name: 'the header repeated',
      headers: [
        'authorization',
        `Bearer ${BOOTSTRAP_TOKEN}`,
        'authorization',
        `Bearer ${BOOTSTRAP_TOKEN}`,
      ],
    },
    { name: 'an API key', headers: ['x-api-key', BOOTSTRAP_TOKEN] },
  ])('with $name is refused with one and the same 401', async ({ headers }) => {
    const answer = await adminAs(headers);
    expect(answer.status).toBe(401);
    expect(answer.text).toBe(
      '{"code":"UNAUTHORIZED","message":"Authentication failed. Authorization: expected Bearer and the token of an operator.","details":[]}',
    );
  });

  test('of every route needs a token', async () => {
    const id = newId();
    for (const [method, path] of [
      ['POST', '/admin/operators'],
      ['GET', '/admin/operators'],
      ['DELETE', `/admin/operators/${id}`],
      ['GET', '/admin/audit'],
      ['POST', '/admin/accounts'],
      ['GET', '/admin/accounts'],
      ['GET', `/admin/accounts/${id}`],
      ['PATCH', `/admin/accounts/${id}`],
      ['POST', `/admin/accounts/${id}/applications`],
      ['GET', `/admin/accounts/${id}/applications`],
      ['PATCH', `/admin/applications/${id}`],
      ['POST', `/admin/applications/${id}/keys`],
      ['GET', `/admin/applications/${id}/keys`],
      ['GET', '/admin/keys'],
      ['PATCH', `/admin/keys/${id}`],
      ['DELETE', `/admin/keys/${id}`],
      ['GET', '/admin/requests'],
      ['GET', '/admin/payouts'],
      ['GET', `/admin/payouts/${id}`],
      ['POST', `/admin/accounts/${id}/payouts`],
      ['POST', `/admin/payouts/${id}/approve`],
      ['POST', `/admin/payouts/${id}/cancel`],
      ['GET', `/admin/accounts/${id}/balances`],
      ['GET', `/admin/accounts/${id}/journals`],
      ['GET', '/admin/suspense'],
      ['GET', '/admin/reconciliation'],
      ['POST', '/admin/reconciliation'],
      ['GET', '/admin/dead-letters'],
      ['POST', `/admin/dead-letters/charges/${id}/replay`],
    ] as const) {
      const answer = await sendRequest({ port: gateway.ports.admin, method, path });
      expect([method, path, answer.status]).toEqual([method, path, 401]);
    }
  });
});

describe('the bootstrap operator', () => {
  const bootstrap = ['authorization', `Bearer ${BOOTSTRAP_TOKEN}`];

  test('may speak for another operator', async () => {
    const { id } = await createOperator('Duda');
    const made = await gateway.admin('POST', '/admin/operators', {
      body: { name: 'Eva' },
      headers: ['X-Operator', id],
    });
    expect(await readAudit(`target_id=${String(made.json['id'])}`)).toMatchObject([{ actor: id }]);
    const own = await gateway.admin('POST', '/admin/operators', { body: { name: 'Fabio' } });
    expect(await readAudit(`target_id=${String(own.json['id'])}`)).toMatchObject([
      { actor: 'bootstrap' },
    ]);
  });

  test('may not speak for one who does not exist, and nobody else may speak for others', async () => {
    const { id, token } = await createOperator('Gil');
    for (const headers of [
      [...bootstrap, 'X-Operator', newId()],
      [...bootstrap, 'X-Operator', 'x'],
      [...bootstrap, 'X-Operator', id, 'X-Operator', id],
      ['authorization', `Bearer ${token}`, 'X-Operator', id],
    ]) {
      const answer = await adminAs(headers);
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({ code: 'VALIDATION_ERROR', details: ['X-Operator'] });
    }
  });

  test('may not speak for others where that is off, as it is in production', async () => {
    await using off = await startTestGateway({ ACT_FOR_OTHERS: 'false' });
    const made = await off.admin('POST', '/admin/operators', { body: { name: 'Hugo' } });
    const id = String(made.json['id']);
    const answer = await off.admin('GET', '/admin/operators', {
      headers: ['X-Operator', id],
    });
    expect(answer.json).toMatchObject({ code: 'VALIDATION_ERROR', details: ['X-Operator'] });
  });
});

test('the audit log can be added to and read by the service, not changed', async () => {
  await createOperator('Iris');
  for (const statement of [
    sql`update audit_log set actor = 'nobody'`,
    sql`delete from audit_log`,
    sql`truncate audit_log`,
  ]) {
    await expect(gateway.database.db.query(statement)).rejects.toMatchObject({ code: '42501' });
  }
});

test('the audit log is read newest first, page by page', async () => {
  const { id } = await createOperator('Joana');
  await gateway.admin('DELETE', `/admin/operators/${id}`);
  const first = await gateway.admin('GET', `/admin/audit?target_id=${id}&limit=1`);
  expect(first.json).toMatchObject({ has_more: true, data: [{ action: 'operator.removed' }] });
  const [entry] = first.json['data'] as { id: string }[];
  const path = `/admin/audit?target_id=${id}&starting_after=${entry?.id}`;
  expect((await gateway.admin('GET', path)).json).toMatchObject({
    has_more: false,
    data: [{ action: 'operator.created' }],
  });
  for (const filter of [`target_id=${id}`, 'target_id=none']) {
    const unknown = await gateway.admin('GET', `/admin/audit?${filter}&starting_after=${newId()}`);
    expect(unknown.json).toMatchObject({ code: 'VALIDATION_ERROR', details: ['starting_after'] });
  }
});
