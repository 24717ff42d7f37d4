import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { fillUnderStatistics, TABLE_STATISTICS } from '@pixmesh/testkit/table-statistics';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { explainedDatabase } from '#test/observed-database.ts';
import { aCheck } from '#test/run-check.ts';

const HOUR_AGO = new Date(Date.now() - 3_600_000);
const PIX = 20_000;
const BLOCKED = 40;
/** More journals than an incremental run walks over by itself. */
const MANY_JOURNALS = 20_000;
const LONGER = { timeout: 120_000 };

test.each(TABLE_STATISTICS)(
  'blocked money is compared without the Pix that nothing blocks, on a table that was %s',
  LONGER,
  async (statistics) => {
    await using database = await createTestDatabase('ledger');
    await fillUnderStatistics(database, { table: sql`ledger.pix_debits`, statistics, fill });
    for (const since of [null, HOUR_AGO]) {
      const db = explainedDatabase(database.db);
      expect(await aCheck(db, 'blocked_entries')({ since })).toEqual({
        compared: BLOCKED,
        breaks: [],
      });
      expect(db.read.scans).toContain('pix_debits_blocked');
      expect(db.read.rowsMax).toBeLessThan(2 * BLOCKED);
    }
  },
);

test('blocked money that differs is compared again, however long its owner has not moved, until it is mended', async () => {
  await using database = await createTestDatabase('ledger');
  const { db } = database;
  const accountId = newId();
  await db.query(sql`
    insert into accounts (account_id, version) values (${accountId}, ${MANY_JOURNALS})`);
  await blockPix(db, accountId, { pix: 1, among: 1 });
  const check = aCheck(db, 'blocked_entries');
  const known = { since: HOUR_AGO, knownIds: [accountId] };
  const { breaks } = await check();
  expect(breaks).toEqual([
    {
      kind: 'balance',
      id: accountId,
      accountId,
      expected: '6',
      found: '0',
      amountCents: -6n,
    },
  ]);
  expect((await check({ since: HOUR_AGO })).breaks).toEqual([]);
  expect((await check(known)).breaks).toEqual(breaks);
  await db.query(sql`update pix_debits set blocked = 0`);
  expect((await check(known)).breaks).toEqual([]);
});

/** One owner, who has just moved, with many Pix of which something went back, and a few that are blocked. */
async function fill(db: Database): Promise<void> {
  const accountId = newId();
  const blocked = 6 * BLOCKED;
  await db.query(sql`
    insert into accounts (account_id, blocked, acquirer_clearing, version, moved_at)
    values (${accountId}, ${blocked}, ${-blocked}, ${MANY_JOURNALS}, now())`);
  await blockPix(db, accountId, { pix: PIX, among: PIX / BLOCKED });
}

/** Pix of which 3 went back; of one among so many 6 are blocked. */
async function blockPix(
  db: Database,
  accountId: string,
  { pix, among }: { pix: number; among: number },
): Promise<void> {
  await db.query(sql`
    insert into pix_debits
      (account_id, end_to_end_id, received, refunding, refunded, returned, blocked, shortfall, disputed)
    select
      ${accountId}, 'E' || number, 9, 0, 3, 0,
      case when number % ${among}::int = 0 then 6 else 0 end, 0, 0
    from generate_series(1, ${pix}::int) as number`);
}
