import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createPool, type Database } from './pool.ts';
import { sql } from './sql.ts';
import { createWriteBatcher } from './write-batcher.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase('charges');
  const url = database.adminUrl;
  db = createPool({ url, applicationName: 'test', max: 4, lockTimeoutMs: 100 });
  await db.query(sql`create table counters (id int primary key, count int not null)`);
  await db.query(sql`insert into counters select id, 0 from generate_series(1, 8) as id`);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test('an item whose row stays locked is refused alone, and those beside it are written', async () => {
  const ids = [1, 2, 3, 4, 5, 6, 7, 8];
  const batcher = createWriteBatcher<number, number>(async (some) => {
    const rows = await db.query<{ id: number }>(sql`
      update counters set count = count + 1 where id = any (${some}::int[]) returning id`);
    return some.filter((id) => rows.some((row) => row.id === id));
  });
  const outcomes = await db.transaction(async (tx) => {
    await tx.query(sql`select from counters where id = 3 for update`);
    return await Promise.allSettled(ids.map((id) => batcher.submit(id)));
  });
  const refused = { status: 'rejected', reason: { code: 'DEPENDENCY_UNAVAILABLE' } };
  expect(outcomes).toMatchObject(
    ids.map((value) => (value === 3 ? refused : { status: 'fulfilled', value })),
  );
  expect(await batcher.submit(3)).toBe(3);
  const counts = await db.query<{ count: number }>(sql`select count from counters order by id`);
  expect(counts.map(({ count }) => count)).toEqual(ids.map(() => 1));
});
