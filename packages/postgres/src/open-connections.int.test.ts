import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { openConnections } from './open-connections.ts';
import { createPool, type Database } from './pool.ts';
import { sql } from './sql.ts';

const NAME = 'open-connections-test';

test('a process has connections of each of its pools before its first call', async () => {
  await using database = await createTestDatabase('charges');
  await using db = createPool({ url: database.url, applicationName: NAME });
  await using writes = createPool({ url: database.url, applicationName: NAME, max: 2 });
  await openConnections(db, writes);
  expect(await countConnections(database.db)).toBe(6);
});

test('a database that is away holds up no start', async () => {
  const url = 'postgresql://charges:secret@127.0.0.1:1/pixmesh';
  await using db = createPool({ url, applicationName: NAME });
  await expect(openConnections(db)).resolves.toBeUndefined();
});

async function countConnections(db: Database): Promise<number | undefined> {
  const [row] = await db.query<{ count: number }>(
    sql`select count(*)::int as count from pg_stat_activity where application_name = ${NAME}`,
  );
  return row?.count;
}
