import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { fillUnderStatistics, TABLE_STATISTICS } from '@pixmesh/testkit/table-statistics';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { dueReleasesStatement } from './releases.sql.ts';

const TO_COME = 20_000;
const DUE = 3_000;
const LIMIT = 200;
/** A thousand that are ranked by account, then those that are locked and leased. */
const ROWS_READ_MAX = 1_000 + 4 * LIMIT;
const LONGER = { timeout: 120_000 };

test.each(TABLE_STATISTICS)(
  'due releases are taken without reading all that are due or to come, on a table that was %s',
  LONGER,
  async (statistics) => {
    await using database = await createTestDatabase('ledger');
    await fillUnderStatistics(database, { table: sql`ledger.releases`, statistics, fill });
    const { rowsRead } = await explainStatement(database.db, dueReleasesStatement(LIMIT));
    expect(rowsRead).toBeLessThanOrEqual(ROWS_READ_MAX);
  },
);

async function fill(db: Database): Promise<void> {
  await db.query(sql`
    insert into releases (command_id, account_id, amount, release_at)
    select
      gen_random_uuid(), gen_random_uuid(), 100,
      now() + (number - ${DUE}::int) * interval '1 second'
    from generate_series(1, ${DUE + TO_COME}::int) as number`);
}
