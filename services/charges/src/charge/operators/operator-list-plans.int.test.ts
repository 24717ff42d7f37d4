import { ChargeStatus } from '@pixmesh/contracts/http/charge';
import type { AccountId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { explainStatement } from '@pixmesh/testkit/explain-statement';
import { fillUnderStatistics, TABLE_STATISTICS } from '@pixmesh/testkit/table-statistics';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { fillCharges, storeCharge } from '#test/store-charge.ts';

import { type OperatorChargeFilters, operatorListStatement } from './list-operator-charges.sql.ts';

const ROWS = scaled(5_000, 20_000);
const UNLISTED = 300;
const LIMIT = 21;
/** So many of a status, a source or a reference, at the most, may be read at once. */
const FEW = 500;
const SPACING_SECONDS = scaled(360, 90);
/** Ranges that the widest list reads: each class of lifetimes, what is being paid, and each other status. */
const SLICES = 53 + 8;
const PAGES_PER_SLICE = 6;
/** Pages of the table for a row at the worst: `fill` leaves two older versions of each behind. */
const PAGES_PER_ROW = 3;
const LONGER = { timeout: 120_000 };

/** Charges of the API among which every fiftieth shares a reference, and some of the checkout. */
async function fill(db: Database, accountId: AccountId): Promise<void> {
  await fillCharges(db, { accountId, rows: ROWS, spacingSeconds: SPACING_SECONDS });
  await db.query(sql`
    update charges set source = 'checkout'
    where id in (select id from charges where status = 'paid' order by id limit ${UNLISTED})`);
  await db.query(sql`
    update charges set reference = 'r' || (extract(epoch from created_at)::bigint % 400)::text`);
  await db.query(sql`
    insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
    select 'E1', id, account_id, amount, now(), 'credit' from charges limit 1`);
}

type Shape = { filters: OperatorChargeFilters; index: string[]; slices: number };

function shapesOf(accountId: AccountId, reference: string): Shape[] {
  const byClass = (status?: ChargeStatus): Shape => {
    const isOpen = status === undefined || status === 'pending' || status === 'expired';
    return { filters: { status }, index: ['charges_by_class'], slices: isOpen ? SLICES : 1 };
  };
  return [
    byClass(),
    ...ChargeStatus.options.map(byClass),
    { filters: { reference }, index: ['charges_reference'], slices: 1 },
    { filters: { endToEndId: 'E1' }, index: ['charges_pkey', 'received_pix_pkey'], slices: 1 },
    { filters: { source: 'checkout' }, index: ['charges_unlisted'], slices: 1 },
    { filters: { accountId, source: 'api' }, index: ['charges_list'], slices: 1 },
    {
      filters: { accountId, source: 'checkout' },
      index: ['charges_unlisted_of_account'],
      slices: 1,
    },
    {
      filters: { accountId },
      index: ['charges_list', 'charges_unlisted_of_account'],
      slices: 2,
    },
    {
      filters: { accountId, status: 'paid' },
      index: ['charges_list_by_class', 'charges_unlisted_of_account'],
      slices: 2,
    },
  ];
}

test.each(TABLE_STATISTICS)(
  'whatever operators search for is read from the index of its filter, on a table that was %s',
  LONGER,
  async (statistics) => {
    await using database = await createTestDatabase('charges');
    const { db } = database;
    const accountId = newId<AccountId>();
    const other = await storeCharge(db, { createdAt: new Date('2020-01-01T00:00:00.000Z') });
    await fillUnderStatistics(database, {
      table: sql`charges.charges`,
      statistics,
      fill: () => fill(db, accountId),
    });
    const [middle] = await db.query<{ id: string; reference: string }>(
      sql`
        select id, reference from charges
        where account_id = ${accountId} order by created_at offset ${ROWS / 2} limit 1`,
    );
    for (const { filters, index, slices } of shapesOf(accountId, middle?.reference ?? '')) {
      for (const startingAfter of [null, middle?.id ?? other.id]) {
        const name = JSON.stringify({ ...filters, startingAfter });
        const statement = operatorListStatement(filters, { limit: LIMIT, startingAfter });
        const { scans, rowsRead, pagesRead } = await explainStatement(db, statement);
        expect([name, scans.includes('Seq Scan')]).toEqual([name, false]);
        // What is rare may be collected and sorted, by whatever index, which costs no more than its number.
        const wanted = startingAfter === null ? index : [...index, 'charges_pkey'];
        const isInOrder = scans.join() === wanted.toSorted().join();
        const rowsMax = slices * LIMIT + 1 + (isInOrder ? 0 : FEW);
        expect([name, rowsRead <= rowsMax ? 'few' : rowsRead]).toEqual([name, 'few']);
        const pagesMax = (slices + 1) * PAGES_PER_SLICE + PAGES_PER_ROW * rowsRead;
        expect([name, pagesRead <= pagesMax ? 'few' : pagesRead]).toEqual([name, 'few']);
      }
    }
  },
);
