import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { fillUnderStatistics, TABLE_STATISTICS } from '@pixmesh/testkit/table-statistics';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { listHolds, openHoldsStatement } from './holds.sql.ts';

const ENDED = 20_000;
const OPEN = 40;
const LONGER = { timeout: 120_000 };

test.each(TABLE_STATISTICS)(
  'a page of open holds reads open holds alone, on a table that was %s',
  LONGER,
  async (statistics) => {
    await using database = await createTestDatabase('ledger');
    await fillUnderStatistics(database, { table: sql`ledger.holds`, statistics, fill });
    const filters = { state: 'open', kind: null } as const;
    const all = { limit: 1_000, startingAfter: null, filters };
    const listed = (await listHolds(database.db, all)).map(({ hold_id: id }) => id);
    expect(listed).toHaveLength(OPEN);
    expect(listed).toEqual(listed.toSorted());
    for (const kind of [null, 'payout', 'refund'] as const) {
      for (const startingAfter of [null, listed[OPEN / 2] ?? '']) {
        const page = { limit: 11, startingAfter, filters: { state: 'open', kind } as const };
        const { rowsRead, pagesRead } = await explainStatement(
          database.db,
          openHoldsStatement(page),
        );
        expect([kind, startingAfter, rowsRead <= OPEN]).toEqual([kind, startingAfter, true]);
        expect([kind, startingAfter, pagesRead <= 2 * OPEN]).toEqual([kind, startingAfter, true]);
      }
    }
  },
);

/** Many holds that ended, and among them a few that are open, of both kinds. */
async function fill(db: Database): Promise<void> {
  await db.query(sql`
    insert into holds (hold_id, account_id, resource_id, amount, fee, created_at, state, kind)
    select
      gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 100, 0, now(),
      case when number % ${ENDED / OPEN}::int = 0 then 'open'
           when number % 2 = 0 then 'settled' else 'released' end::hold_state,
      case when number % ${(2 * ENDED) / OPEN}::int = 0 then 'refund' else 'payout' end::hold_kind
    from generate_series(1, ${ENDED}::int) as number`);
}
