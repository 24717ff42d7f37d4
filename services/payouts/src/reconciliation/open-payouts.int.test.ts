import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { fillUnderStatistics, TABLE_STATISTICS } from '@pixmesh/testkit/table-statistics';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { fillPayouts, storePayout } from '#test/store-payout.ts';

import { openPageStatement, openPayouts } from './compared-payouts.sql.ts';

const ENDED = 10_000;
const OPEN = 2_500;
const PAGE = 1_000;
const LONGER = { timeout: 120_000 };

test.each(TABLE_STATISTICS)(
  'payouts on their way are read in pages, each once and no other, on a table that was %s',
  LONGER,
  async (statistics) => {
    await using database = await createTestDatabase('payouts');
    const { db } = database;
    await fillUnderStatistics(database, { table: sql`payouts.payouts`, statistics, fill });
    const pages: string[][] = [];
    for await (const page of openPayouts(db)) pages.push(page.map(({ id }) => id));
    expect(pages.map(({ length }) => length)).toEqual([PAGE, PAGE, expect.any(Number)]);
    const open = await db.query<{ id: string }>(
      sql`select id from payouts where status in ('pending', 'processing')`,
    );
    expect(pages.flat().toSorted()).toEqual(open.map(({ id }) => id).toSorted());
    const places = await db.query<{ status: string; created_at: Date; id: string }>(
      sql`select status, created_at, id from payouts where id = ${pages[1]?.at(-1)}`,
    );
    for (const after of [null, places[0]!]) {
      const { scans, rowsRead } = await explainStatement(db, openPageStatement(after));
      expect(scans).toEqual(['payouts_open']);
      expect(rowsRead).toBeLessThanOrEqual(PAGE);
    }
  },
);

test('a payout that is approved while the pages are read is not left out', async () => {
  await using database = await createTestDatabase('payouts');
  const { db } = database;
  await storeOpen(db, PAGE);
  const late = await storePayout(db, { status: 'pending', createdAt: new Date() });
  const seen: string[] = [];
  for await (const page of openPayouts(db)) {
    if (seen.length === 0) {
      await db.query(sql`update payouts set status = 'processing' where id = ${late.id}`);
    }
    seen.push(...page.map(({ id }) => id));
  }
  expect(seen).toContain(late.id);
});

/** Many payouts that have ended, and some that wait for approval or are on their way. */
async function fill(db: Database): Promise<void> {
  await fillPayouts(db, { accountId: newId(), rows: ENDED });
  await storeOpen(db, OPEN);
}

async function storeOpen(db: Database, count: number): Promise<void> {
  await db.query(sql`
    insert into payouts (
      id, account_id, source, status, amount, fee, pix_key_type, pix_key, pix_key_canonical, fingerprint, is_automatic,
      hold_id, created_at
    )
    select gen_random_uuid(), gen_random_uuid(), 'api', case when number % 2 = 0 then 'pending' else 'processing' end,
      1000, 0, 'email', 'a@b.c', 'a@b.c', '\\x00', false, gen_random_uuid(), now() - number * interval '1 s'
    from generate_series(1, ${count}::int) as number`);
}
