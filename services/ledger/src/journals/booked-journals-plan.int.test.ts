import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { bookedStatement, listBooked } from './booked-journals.sql.ts';

const JOURNALS = 20_000;
const RETURNS = 40;
const LONGER = { timeout: 120_000 };

const ANALYZE = sql`analyze ledger.journals`;
const CASES = {
  'filled and analyzed': async (admin: Database, db: Database) => {
    await fill(db);
    await admin.query(ANALYZE);
  },
  'analyzed while it was empty': async (admin: Database, db: Database) => {
    await admin.query(ANALYZE);
    await fill(db);
  },
};

test.each(Object.entries(CASES))(
  'returns of payouts since ever are found without the journals of other kinds, on a table that was %s',
  LONGER,
  async (_, prepare) => {
    await using database = await createTestDatabase('ledger');
    const { db } = database;
    await using admin = createPool({ url: database.adminUrl, applicationName: 'test', max: 1 });
    await admin.query(sql`alter table ledger.journals set (autovacuum_enabled = false)`);
    await prepare(admin, db);
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
