import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import { newId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';

import { startTestAdmin, type TestAdmin } from '#test/start-test-admin.ts';

/** What an owner answers to a key that comes again with another body. */
const MISMATCH = {
  status: 201,
  headers: { [ANSWER_HEADERS.replayed]: 'true', [ANSWER_HEADERS.mismatch]: 'true' },
  body: { id: newId(), object: 'payout' },
};

let database: TestDatabase;
let admin: TestAdmin;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase('gateway');
  admin = await startTestAdmin({ db: database.db, answer: MISMATCH });
  const body = { name: 'Loja', legal_name: 'Loja Ltda', document: '11444777000161' };
  accountId = String((await admin.call('POST', '/admin/accounts', { body })).json['id']);
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function create(path: string, key: string, name: string) {
  const answer = await admin.call('POST', path, {
    body: { name, scopes: ['charge:read'] },
    headers: ['Idempotency-Key', key],
  });
  expect(answer.status).toBe(201);
  return answer;
}

/** Creations of the gateway itself, of applications and keys. */
test('a creation whose key comes again with another body is told once, with who and where', async () => {
  const applications = `/admin/accounts/${accountId}/applications`;
  const first = await create(applications, 'application-0001', 'shop');
  const keys = `/admin/applications/${String(first.json['id'])}/keys`;
  await create(keys, 'key-0000-0001', 'main');
  await create(applications, 'application-0001', 'shop');
  expect(admin.warnings).toEqual([]);
  for (const [path, key, route] of [
    [applications, 'application-0001', '/admin/accounts/:id/applications'],
    [keys, 'key-0000-0001', '/admin/applications/:id/keys'],
  ] as const) {
    const repeat = await create(path, key, 'other');
    expect(repeat.headers).toMatchObject({ [ANSWER_HEADERS.mismatch]: 'true' });
    expect(admin.warnings.splice(0)).toMatchObject([
      { request_id: repeat.headers['x-request-id'], actor: 'bootstrap', route },
    ]);
  }
});

test('so is one that its owner answers', async () => {
  const answer = await create(`/admin/accounts/${accountId}/payouts`, 'payout-00000001', 'x');
  expect(answer.headers).toMatchObject({ [ANSWER_HEADERS.mismatch]: 'true' });
  expect(admin.warnings.splice(0)).toMatchObject([
    {
      level: 40,
      msg: 'idempotency key repeated with another body',
      request_id: answer.headers['x-request-id'],
      actor: 'bootstrap',
      route: '/admin/accounts/:id/payouts',
    },
  ]);
});
