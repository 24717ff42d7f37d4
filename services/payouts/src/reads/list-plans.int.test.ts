import type { AccountId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { fillUnderStatistics, TABLE_STATISTICS } from '@pixmesh/testkit/table-statistics';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { listShapes } from '#test/list-shapes.ts';
import { fillPayouts, storePayout } from '#test/store-payout.ts';

import { listStatement, type PayoutFilters } from './list-payouts.sql.ts';

const ROWS = scaled(5_000, 20_000);
const LIMIT = 21;
/** Ranges that the widest filter reads: one for each status. */
const STATUSES = 5;
/** A descent of an index. */
const PAGES_PER_RANGE = 6;
const LONGER = { timeout: 120_000 };
/** Older than all that fills the table. */
const OLD = { createdAt: new Date('2020-01-01') };

const TABLE = sql`payouts.payouts`;

test.each(TABLE_STATISTICS)(
  'a page of every shape at any depth reads ranges of its index and no more, on a table that was %s',
  LONGER,
  async (statistics) => {
    await using database = await createTestDatabase('payouts');
    const { db } = database;
    const accountId = newId<AccountId>();
    const fill = () => fillPayouts(db, { accountId, rows: ROWS });
    await fillUnderStatistics(database, { table: TABLE, statistics, fill });
    for (const { name, filters, startingAfter } of await listShapes(db, accountId)) {
      const statement = listStatement(filters, { limit: LIMIT, startingAfter });
      const { scans, rowsRead, pagesRead } = await explainStatement(db, statement);
      const cursor = startingAfter === null ? [] : ['payouts_pkey'];
      expect([name, scans]).toEqual([name, ['payouts_list_by_status', ...cursor]]);
      const ranges = filters.status === undefined ? STATUSES : 1;
      expect([name, rowsRead <= ranges * LIMIT + 1]).toEqual([name, true]);
      const pagesMax = ranges * PAGES_PER_RANGE + rowsRead + PAGES_PER_RANGE;
      expect([name, pagesRead <= pagesMax ? 'few' : pagesRead]).toEqual([name, 'few']);
    }
  },
);

test('what operators look for over all accounts is read from an index', LONGER, async () => {
  await using database = await createTestDatabase('payouts');
  const { db, adminUrl } = database;
  const cursor = await storePayout(db);
  for (let accounts = 0; accounts < 3; accounts += 1) {
    await fillPayouts(db, { accountId: newId(), rows: 2_000 });
  }
  await using admin = createPool({ url: adminUrl, applicationName: 'test', max: 1 });
  await admin.query(sql`analyze payouts.payouts`);
  const wanted: Omit<PayoutFilters, 'accountId'>[] = [
    {},
    { status: 'completed' },
    { reference: 'r17' },
    { endToEndId: 'E17' },
  ];
  for (const filters of wanted) {
    for (const startingAfter of [null, cursor.id]) {
      const page = { limit: LIMIT, startingAfter };
      const statement = listStatement({ accountId: undefined, ...filters }, page);
      const { scans, rowsRead } = await explainStatement(db, statement);
      expect(scans).not.toContain('Seq Scan');
      expect(rowsRead).toBeLessThan(2 * LIMIT);
    }
  }
});

test.each(TABLE_STATISTICS)(
  'over all accounts what is rare is read without what is not, on a table that was %s',
  LONGER,
  async (statistics) => {
    await using database = await createTestDatabase('payouts');
    const { db } = database;
    const rare = [
      { filters: { status: 'failed' }, index: 'payouts_failed' },
      { filters: { status: 'canceled' }, index: 'payouts_failed' },
      { filters: { source: 'dashboard' }, index: 'payouts_of_operators' },
    ] as const;
    const cursors = await Promise.all(
      rare.map(({ filters }) => storePayout(db, { status: 'completed', ...filters, ...OLD })),
    );
    const fill = () => fillPayouts(db, { accountId: newId(), rows: ROWS });
    await fillUnderStatistics(database, { table: TABLE, statistics, fill });
    for (const [place, { filters, index }] of rare.entries()) {
      const statement = (startingAfter: string | null) =>
        listStatement({ accountId: undefined, ...filters }, pageAfter(startingAfter));
      const first = await explainStatement(db, statement(null));
      expect([filters, first.scans]).toEqual([filters, [index]]);
      expect(first.rowsRead).toBeLessThanOrEqual(LIMIT);
      const last = await explainStatement(db, statement(String(cursors[place]?.id)));
      expect([filters, last.scans]).toEqual([filters, [index, 'payouts_pkey']]);
      expect(last.rowsRead).toBe(1);
    }
  },
);

test.each(TABLE_STATISTICS)(
  'over all accounts what has not ended is read without what has, on a table that was %s',
  LONGER,
  async (statistics) => {
    await using database = await createTestDatabase('payouts');
    const { db } = database;
    const cursors = {
      pending: await storePayout(db, { status: 'pending', ...OLD }),
      processing: await storePayout(db, { status: 'processing', ...OLD }),
    };
    const fill = () => fillPayouts(db, { accountId: newId(), rows: ROWS });
    await fillUnderStatistics(database, { table: TABLE, statistics, fill });
    for (const status of ['pending', 'processing'] as const) {
      const { id } = cursors[status];
      const filters = { accountId: undefined, status };
      const first = await explainStatement(db, listStatement(filters, pageAfter(null)));
      expect([status, first.scans]).toEqual([status, ['payouts_open']]);
      expect(first.rowsRead).toBeLessThanOrEqual(LIMIT);
      const last = await explainStatement(db, listStatement(filters, pageAfter(id)));
      expect([status, last.scans]).toEqual([status, ['payouts_open', 'payouts_pkey']]);
      expect(last.rowsRead).toBe(1);
    }
  },
);

function pageAfter(startingAfter: string | null) {
  return { limit: LIMIT, startingAfter };
}
