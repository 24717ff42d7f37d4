import type { Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { idAt } from '#test/queued-deliveries.ts';

const DELIVERIES = 600;
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
/** A page that is filled to 60 % has room for two of three of its rows again; one that is filled further for a few. */
const IN_PAGE_MIN = 0.6;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('webhook_dispatcher');
});
afterAll(() => database[Symbol.asyncDispose]());

test.each([
  ['this week', 0],
  ['a week that was made ahead', 2],
])(
  'most deliveries of %s that are over are updated within their page, also where nothing of it can be removed meanwhile',
  async (_week, weeks) => {
    const ids = Array.from({ length: DELIVERIES }, (_, index) =>
      idAt(Date.now() + weeks * WEEK_MS + index),
    );
    await database.db.query(sql`
      insert into deliveries (id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id)
      select
        id, id, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'charge.pix.created', gen_random_uuid(),
        gen_random_uuid()
      from unnest(${ids}::uuid[]) as made (id)`);
    // One transaction, so that each page has to hold all old and new versions at once.
    const inPage = await database.db.transaction(async (tx) => {
      const before = await countUpdates(tx);
      await tx.query(
        sql`update deliveries set status = 'succeeded' where id = any (${ids}::uuid[])`,
      );
      const after = await countUpdates(tx);
      expect(after.all - before.all).toBe(DELIVERIES);
      return after.inPage - before.inPage;
    });
    expect(inPage / DELIVERIES).toBeGreaterThanOrEqual(IN_PAGE_MIN);
  },
);

/** A session counts over its transactions until it reports. */
async function countUpdates(db: Queryable): Promise<{ all: number; inPage: number }> {
  const [row] = await db.query<{ all: number; inPage: number }>(sql`
    select coalesce(sum(n_tup_upd), 0)::int as all, coalesce(sum(n_tup_hot_upd), 0)::int as "inPage"
    from pg_stat_xact_user_tables
    where starts_with(relname, 'deliveries_')`);
  return row!;
}
