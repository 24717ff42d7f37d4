import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTestAdmin, type TestAdmin } from '#test/start-test-admin.ts';

let database: TestDatabase;
let admin: TestAdmin;
let applications: string;

beforeAll(async () => {
  database = await createTestDatabase('gateway');
  admin = await startTestAdmin({ db: database.db, answer: { status: 404, body: {} } });
  const body = { name: 'Loja', legal_name: 'Loja Ltda', document: '11444777000161' };
  const account = await admin.call('POST', '/admin/accounts', { body });
  applications = `/admin/accounts/${String(account.json['id'])}/applications`;
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** How often the relay was woken by a call. */
async function wakeUpsOf(...call: Parameters<TestAdmin['call']>) {
  const before = admin.wakeUps();
  const answer = await admin.call(...call);
  return { status: answer.status, wakeUps: admin.wakeUps() - before, answer };
}

test('whatever is announced of an application wakes the relay, and nothing else does', async () => {
  const created = { body: { name: 'shop' }, headers: ['Idempotency-Key', 'at-once-00000001'] };
  const { answer, ...first } = await wakeUpsOf('POST', applications, created);
  expect(first).toEqual({ status: 201, wakeUps: 1 });
  expect(await wakeUpsOf('POST', applications, created)).toMatchObject({ status: 201, wakeUps: 0 });
  const one = `/admin/applications/${String(answer.json['id'])}`;
  for (const [body, status, wakeUps] of [
    [{ active: false }, 200, 1],
    [{ active: false, name: 'closed' }, 200, 0],
    [{ active: 'yes' }, 400, 0],
    [{ active: true }, 200, 1],
  ] as const) {
    expect(await wakeUpsOf('PATCH', one, { body })).toMatchObject({ status, wakeUps });
  }
});
