import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { fillUnderStatistics, TABLE_STATISTICS } from '@pixmesh/testkit/table-statistics';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { listSuspense, suspenseStatement } from './suspense.sql.ts';

const ITEMS = 20_000;
const OPEN = 40;
const LIMIT = 11;
const LONGER = { timeout: 120_000 };

test.each(TABLE_STATISTICS)(
  'a page of items reads what it shows, and open items alone for open ones, on a table that was %s',
  LONGER,
  async (statistics) => {
    await using database = await createTestDatabase('ledger');
    const { db } = database;
    await fillUnderStatistics(database, { table: sql`ledger.suspense_items`, statistics, fill });
    const all = { limit: 1_000, startingAfter: null, filters: { status: 'open' } } as const;
    const open = (await listSuspense(db, all)).map(({ id }) => id);
    expect(open).toHaveLength(OPEN);
    for (const startingAfter of [null, open[OPEN / 2] ?? '']) {
      for (const [filters, rowsMax] of [
        [{ status: 'open' }, OPEN + 1],
        [{ status: 'open', account_id: newId() }, OPEN + 1],
        [{ status: 'resolved' }, 2 * LIMIT],
        [{}, LIMIT + 1],
      ] as const) {
        const page = { limit: LIMIT, startingAfter, filters };
        const { scans, rowsRead } = await explainStatement(db, suspenseStatement(page));
        expect([page, scans, rowsRead <= rowsMax]).toEqual([page, scans, true]);
      }
    }
  },
);

/** Many items that were resolved, and before all of them a few that are open. */
async function fill(db: Database): Promise<void> {
  await db.query(sql`
    insert into suspense_items (id, account_id, amount, reason, created_at, resolved_at)
    select gen_random_uuid(), gen_random_uuid(), 100, 'unowned', now() - number * interval '1 min',
      case when number <= ${ITEMS - OPEN}::int then now() end
    from generate_series(1, ${ITEMS}::int) as number`);
}
