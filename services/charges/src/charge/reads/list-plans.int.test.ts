import type { AccountId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { listShapes } from '#test/list-shapes.ts';
import { fillCharges } from '#test/store-charge.ts';

import { listCharges, listedChargeExists, listStatement } from './list-charges.sql.ts';

const ROWS = scaled(5_000, 20_000);
/** Three weeks, so that charges of every lifetime expire among them. */
const SPACING_SECONDS = scaled(360, 90);
const LIMIT = 21;
const LONGER = { timeout: 120_000 };
/** Ranges that the widest filter reads: a class of lifetimes each, and one for what is being paid. */
const SLICES = 54;
/** A descent of an index, and a page of the table for each row at the worst. */
const PAGES_PER_SLICE = 6;

const CASES = {
  'filled and analyzed': async (admin: Database, db: Database, accountId: AccountId) => {
    await fill(db, accountId);
    await admin.query(sql`analyze charges.charges`);
  },
  'analyzed while it was empty': async (admin: Database, db: Database, accountId: AccountId) => {
    await admin.query(sql`analyze charges.charges`);
    await fill(db, accountId);
  },
  'never analyzed': async (_: Database, db: Database, accountId: AccountId) => {
    await fill(db, accountId);
  },
  'analyzed before all of it came': async (admin: Database, db: Database, accountId: AccountId) => {
    await fillCharges(db, { accountId: newId(), rows: 2_000, spacingSeconds: 1 });
    await admin.query(sql`analyze charges.charges`);
    await fill(db, accountId);
  },
};

const fill = (db: Database, accountId: AccountId) =>
  fillCharges(db, { accountId, rows: ROWS, spacingSeconds: SPACING_SECONDS });

test.each(Object.entries(CASES))(
  'a page of every shape at any depth reads ranges of its index and no more, on a table that was %s',
  LONGER,
  async (_, prepare) => {
    await using database = await createTestDatabase('charges');
    const { db, adminUrl } = database;
    await using admin = createPool({ url: adminUrl, applicationName: 'test', max: 1 });
    await admin.query(sql`alter table charges.charges set (autovacuum_enabled = false)`);
    const accountId = newId<AccountId>();
    await prepare(admin, db, accountId);
    for (const { name, filters, startingAfter } of await listShapes(db, accountId)) {
      const statement = listStatement(filters, { limit: LIMIT, startingAfter });
      const { scans, rowsRead, pagesRead } = await explainStatement(db, statement);
      const index = filters.status === undefined ? 'charges_list' : 'charges_list_by_class';
      expect([name, scans]).toEqual([
        name,
        startingAfter === null ? [index] : [index, 'charges_pkey'].sort(),
      ]);
      const { status } = filters;
      const slices = status === 'pending' || status === 'expired' ? SLICES : 1;
      expect([name, rowsRead <= slices * LIMIT + 1]).toEqual([name, true]);
      const pagesMax = slices * PAGES_PER_SLICE + rowsRead + PAGES_PER_SLICE;
      expect([name, pagesRead <= pagesMax ? 'few' : pagesRead]).toEqual([name, 'few']);
    }
  },
);

test(
  'statements that were prepared on an empty table do not read the whole of a full one',
  LONGER,
  async () => {
    await using database = await createTestDatabase('charges');
    const { adminUrl, url } = database;
    await using admin = createPool({ url: adminUrl, applicationName: 'test', max: 1 });
    await using db = createPool({ url, applicationName: 'test', max: 1 });
    await admin.query(sql`alter table charges.charges set (autovacuum_enabled = false)`);
    await admin.query(sql`analyze charges.charges`);
    const accountId = newId<AccountId>();
    const page = { limit: LIMIT, startingAfter: newId() };
    // After five runs the server may keep a plan for good.
    for (let runs = 0; runs < 10; runs += 1) {
      await listCharges(db, { accountId }, page);
      await listCharges(db, { accountId, status: 'expired' }, page);
      await listedChargeExists(db, accountId, page.startingAfter);
    }
    await fill(db, accountId);
    const shapes = await listShapes(db, accountId);
    const before = await rowsReadInOrder(db);
    for (const { filters, startingAfter } of shapes) {
      await listCharges(db, filters, { limit: LIMIT, startingAfter });
      await listedChargeExists(db, accountId, startingAfter ?? newId());
    }
    expect(await rowsReadInOrder(db)).toBe(before);
  },
);

/** Rows that sequential scans of the table have read so far, by anybody. */
async function rowsReadInOrder(db: Database): Promise<bigint | undefined> {
  await db.query(sql`select pg_stat_force_next_flush()`);
  const rows = await db.query<{ seq_tup_read: bigint }>(
    sql`select seq_tup_read from pg_stat_user_tables where relname = 'charges'`,
  );
  return rows[0]?.seq_tup_read;
}
