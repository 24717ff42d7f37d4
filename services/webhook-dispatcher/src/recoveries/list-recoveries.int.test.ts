import { Recovery } from '@pixmesh/contracts/internal/operator-deliveries';
import { newId } from '@pixmesh/kernel/ids';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openOperatorsApi, OPERATOR_ID, type OperatorsApi } from '#test/open-operators-api.ts';

let database: TestDatabase;
let api: OperatorsApi;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
  api = await openOperatorsApi(database.db);
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function create(accountId: string): Promise<Recovery> {
  const body = {
    account_id: accountId,
    created_from: '2026-11-21T12:00:00Z',
    created_until: '2026-11-21T13:00:00Z',
  };
  const asked = { operator_id: OPERATOR_ID, recovery_id: newId(), body };
  return Recovery.parse((await api.call('POST /internal/recoveries', asked)).body);
}

test('shows the newest first, by account and status, in pages', async () => {
  const accountId = newId();
  const [first, second] = [await create(accountId), await create(accountId)];
  const list = async (query: string) => (await api.call(`GET /internal/recoveries?${query}`)).body;
  const ofAccount = `account_id=${accountId}`;
  const all = await list(ofAccount);
  expect(all).toEqual({ object: 'list', data: [second, first], has_more: false });
  expect(await list(`${ofAccount}&limit=1`)).toMatchObject({ data: [second], has_more: true });
  expect(await list(`${ofAccount}&starting_after=${second.id}`)).toMatchObject({ data: [first] });
  await api.call(`POST /internal/recoveries/${first.id}/cancel`, { operator_id: OPERATOR_ID });
  const canceled = await list(`${ofAccount}&status=canceled`);
  expect(canceled.data.map(({ id }: Recovery) => id)).toEqual([first.id]);
  expect((await list(`account_id=${newId()}`)).data).toEqual([]);
});

test.each(['status=done', 'account_id=x', 'event=no.such', `starting_after=${newId()}`])(
  'is refused by the name of its fault: %s',
  async (query) => {
    const { status, body } = await api.call(`GET /internal/recoveries?${query}`);
    expect([status, body.details]).toEqual([400, [query.split('=')[0]]]);
  },
);
