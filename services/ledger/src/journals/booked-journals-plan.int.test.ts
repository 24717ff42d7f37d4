import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { fillUnderStatistics, TABLE_STATISTICS } from '@pixmesh/testkit/table-statistics';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { bookedStatement, listBooked } from './booked-journals.sql.ts';

const JOURNALS = 20_000;
const RETURNS = 40;
const LONGER = { timeout: 120_000 };

test.each(TABLE_STATISTICS)(
  'returns of payouts since ever are found without the journals of other kinds, on a table that was %s',
  LONGER,
  async (statistics) => {
    await using database = await createTestDatabase('ledger');
    const { db } = database;
    await fillUnderStatistics(database, { table: sql`ledger.journals`, statistics, fill });
    const kinds = ['credit_payout_return'] as const;
    const all = { kinds, from: null, to: new Date(), startingAfter: null, limit: 1_001 };
    const found = await listBooked(db, all);
    expect(found).toHaveLength(RETURNS);
    const half = found[RETURNS / 2]?.command_id ?? '';
    for (const startingAfter of [null, half]) {
      const { scans, rowsRead } = await explainStatement(
        db,
        bookedStatement({ ...all, startingAfter }),
      );
      expect(scans).toContain('journals_payout_returns');
      expect(rowsRead).toBeLessThan(2 * RETURNS);
    }
  },
);

/** Many journals of settled holds, and a few of money that came back. */
async function fill(db: Database): Promise<void> {
  await db.query(sql`
    insert into journals (command_id, account_id, version, created_at, kind, outcome, fingerprint)
    select gen_random_uuid(), gen_random_uuid(), 1, now() - number * interval '1 min',
      case when number % ${JOURNALS / RETURNS}::int = 0 then 'credit_payout_return' else 'settle_hold' end::journal_kind,
      'booked', gen_random_uuid()
    from generate_series(1, ${JOURNALS}::int) as number`);
}
