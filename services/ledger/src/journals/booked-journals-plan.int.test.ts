import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { fillUnderStatistics, TABLE_STATISTICS } from '@pixmesh/testkit/table-statistics';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { bookedStatement, listBooked } from './booked-journals.sql.ts';

const JOURNALS = 20_000;
const OF_PAYOUTS = 40;
const LONGER = { timeout: 120_000 };

test.each(TABLE_STATISTICS)(
  'what moved money of ended payouts since ever is found without the journals of other kinds, on a table that was %s',
  LONGER,
  async (statistics) => {
    await using database = await createTestDatabase('ledger');
    const { db } = database;
    await fillUnderStatistics(database, { table: sql`ledger.journals`, statistics, fill });
    const kinds = ['credit_payout_return', 'suspend_payout', 'resolve_suspense'] as const;
    const all = { kinds, from: null, to: new Date(), startingAfter: null, limit: 1_001 };
    const found = await listBooked(db, all);
    expect(found).toHaveLength(OF_PAYOUTS);
    const half = found[OF_PAYOUTS / 2]?.command_id ?? '';
    for (const startingAfter of [null, half]) {
      const { scans, rowsRead } = await explainStatement(
        db,
        bookedStatement({ ...all, startingAfter }),
      );
      expect(scans).toContain('journals_of_payouts');
      expect(rowsRead).toBeLessThan(2 * OF_PAYOUTS);
    }
  },
);

/** Many journals of settled holds, and a few that moved money of ended payouts. */
async function fill(db: Database): Promise<void> {
  await db.query(sql`
    insert into journals (command_id, account_id, version, created_at, kind, outcome, fingerprint)
    select gen_random_uuid(), gen_random_uuid(), 1, now() - number * interval '1 min',
      case when number % ${JOURNALS / OF_PAYOUTS}::int = 0
        then ('{credit_payout_return,suspend_payout,resolve_suspense}'::text[])[number / ${JOURNALS / OF_PAYOUTS}::int % 3 + 1]
        else 'settle_hold'
      end::journal_kind,
      'booked', gen_random_uuid()
    from generate_series(1, ${JOURNALS}::int) as number`);
}
