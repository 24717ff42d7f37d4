import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aBacklog } from '#test/a-backlog.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

async function unsentOf(id: string): Promise<unknown> {
  const [row] = await database.db.query<{ unsent: string | null }>(
    sql`select unsent from deliveries where id = ${id}`,
  );
  return row?.unsent;
}

async function move(id: string, status: string): Promise<void> {
  await database.db.query(sql`update deliveries set status = ${status} where id = ${id}`);
}

test('what was not sent is noted with every move, also by a statement that knows nothing of it', async () => {
  const [id] = await aBacklog(database.db, { laneId: newId(), count: 1 });
  expect(await unsentOf(id!)).toBeNull();
  for (const status of ['failed', 'succeeded', 'skipped', 'pending', 'canceled']) {
    await move(id!, status);
    const isUnsent = ['failed', 'skipped', 'canceled'].includes(status);
    expect(await unsentOf(id!)).toBe(isUnsent ? status : null);
  }
});

test('a delivery that is skipped from the beginning is noted', async () => {
  const [from] = await aBacklog(database.db, { laneId: newId(), count: 1 });
  const id = `${from!.slice(0, 14)}7${newId().slice(15)}`;
  await database.db.query(sql`
    insert into deliveries (id, event_id, destination_id, account_id, resource_id, event, lane_id, status)
    select ${id}, event_id, destination_id, account_id, resource_id, event, lane_id, 'skipped'
    from deliveries where id = ${from}`);
  expect(await unsentOf(id)).toBe('skipped');
});

test('no index holds the status: a delivery that succeeds is updated within its page', async () => {
  const rows = await database.db.query<{ name: string; definition: string }>(sql`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index
    where indrelid in (select relid from pg_partition_tree('deliveries'))`);
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ definition }) => /\bstatus\b/.test(definition))).toEqual([]);
});
