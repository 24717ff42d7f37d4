import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { createChargeReceipts } from '#received/receipts.sql.ts';
import { aReceivedPix } from '#test/a-received-pix.ts';
import { fillCharges, storeCharge } from '#test/store-charge.ts';

/** Two processes whose statements lock the same charges in another order end each other. */

const BATCH = 8;
const ROWS = 3_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

const STATEMENTS = [
  ['moves', moveAll],
  ['records of received Pix', recordAll],
] as const;

test.each(STATEMENTS)('%s lock their charges in the order of the ids', async (_what, writeAll) => {
  await using young = openWrites();
  await expectLocksById(young, writeAll);
  await fillCharges(database.db, { accountId: newId(), rows: ROWS, spacingSeconds: 60 });
  await expectLocksById(young, writeAll);
  await using admin = createPool({ url: database.adminUrl, applicationName: 'test', max: 1 });
  await admin.query(sql`analyze charges.charges`);
  await using grown = openWrites();
  await expectLocksById(grown, writeAll);
});

/** As the service writes: statements are planned once, for the tables as they are then. */
function openWrites(): Database {
  return createPool({ url: database.url, applicationName: 'writes', max: 1, plansOnce: true });
}

async function expectLocksById(
  writes: Database,
  writeAll: (writes: Database, charges: ChargeRow[]) => Promise<unknown>,
) {
  const charges = await someCharges();
  const [first, ...others] = charges.map(({ id }) => id);
  let writing: Promise<unknown> = Promise.resolve();
  await database.db.transaction(async (tx) => {
    await tx.query(sql`select from charges where id = ${first} for update`);
    writing = writeAll(writes, charges.toReversed());
    await eventually(async () => expect(await waitingWrites()).toBe(1));
    const free = await tx.query(
      sql`select id from charges where id = any(${others}::uuid[]) for update skip locked`,
    );
    expect(free).toHaveLength(others.length);
  });
  expect(await writing).toEqual(charges.map(() => true));
}

async function waitingWrites(): Promise<number> {
  const [row] = await database.db.query<{ n: number }>(sql`
    select count(*)::int as n
    from pg_stat_activity
    where application_name = 'writes' and wait_event_type = 'Lock' and datname = current_database()`);
  return row?.n ?? 0;
}

async function someCharges(): Promise<ChargeRow[]> {
  const ids = await Promise.all(
    Array.from({ length: BATCH }, async () => (await storeCharge(database.db)).id),
  );
  const rows = await Promise.all(ids.toSorted().map((id) => findAnyCharge(database.db, id)));
  return rows.filter((row) => row !== null);
}

async function moveAll(writes: Database, charges: ChargeRow[]): Promise<boolean[]> {
  const moves = createChargeMoves(writes);
  return await Promise.all(
    charges.map((from) =>
      moves.submit({
        from,
        status: 'canceled',
        cause: 'canceled',
        events: [],
        checkInMs: 'kept',
        traceparent: null,
      }),
    ),
  );
}

async function recordAll(writes: Database, charges: ChargeRow[]): Promise<boolean[]> {
  const receipts = createChargeReceipts(writes);
  const disposition = { kind: 'credit' } as const;
  return await Promise.all(
    charges.map((charge) => {
      const pix = aReceivedPix({ endToEndId: `E${newId()}` });
      return receipts.submit({ charge, pix, disposition, traceparent: null });
    }),
  );
}
