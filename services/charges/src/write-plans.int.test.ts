import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database, type Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { countRowsRead } from '@pixmesh/testkit/rows-read';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { ChargeRow } from '#charge/charge-row.ts';
import { findAnyCharge } from '#charge/charges.sql.ts';
import { moveCharge } from '#charge/move-charges.sql.ts';
import { findUnrecorded } from '#notices/received-list.sql.ts';
import { createChargeReceipts } from '#received/receipts.sql.ts';
import { createRecordedPix } from '#received/received-pix.sql.ts';
import { aReceivedPix } from '#test/a-received-pix.ts';
import { fillCharges, storeCharge } from '#test/store-charge.ts';

/** Connections that plan a statement once keep the plan of an empty table: it has to be right for a large one. */

const ROWS = 3_000;
/** Rows that one statement for one charge reads of all tables, and no more. */
const READ_MAX = 20;

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase('charges');
  db = createPool({ url: database.url, applicationName: 'test', max: 1, plansOnce: true });
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const WRITES = [
  { what: 'a move', write: (tx: Queryable, charge: ChargeRow) => cancel(tx, charge) },
  { what: 'the record of a Pix', write: (tx: Queryable, charge: ChargeRow) => record(tx, charge) },
  { what: 'the look-up of a Pix', write: (tx: Queryable) => lookUp(tx) },
  { what: 'a page of the list', write: (tx: Queryable, charge: ChargeRow) => compare(tx, charge) },
] as const;

test('statements that were planned while the tables were empty look their rows up by key', async () => {
  const before = await aCharge();
  for (const { write } of WRITES) await db.transaction((tx) => write(tx, before));
  await fillCharges(database.db, { accountId: newId(), rows: ROWS, spacingSeconds: 60 });
  await database.db.query(sql`
    insert into received_pix (end_to_end_id, charge_id, account_id, amount, paid_at, disposition)
    select 'E' || id, id, account_id, amount, now(), 'credit' from charges`);
  for (const { what, write } of WRITES) {
    const charge = await aCharge();
    const read = await db.transaction(async (tx) => {
      await write(tx, charge);
      return await countRowsRead(tx);
    });
    expect([what, read]).toEqual([what, expect.toSatisfy((rows: number) => rows <= READ_MAX)]);
  }
});

async function aCharge(): Promise<ChargeRow> {
  const { id } = await storeCharge(database.db);
  const charge = await findAnyCharge(database.db, id);
  if (charge === null) throw new Error('no such charge');
  return charge;
}

async function cancel(tx: Queryable, from: ChargeRow): Promise<void> {
  await moveCharge(tx, {
    from,
    status: 'canceled',
    cause: 'canceled',
    events: [],
    checkInMs: 'kept',
  });
}

async function record(tx: Queryable, charge: ChargeRow): Promise<void> {
  const pix = aReceivedPix({ endToEndId: `E${newId()}` });
  const disposition = { kind: 'credit' } as const;
  await createChargeReceipts(tx).submit({ charge, pix, disposition, traceparent: null });
}

async function lookUp(tx: Queryable): Promise<void> {
  await createRecordedPix(tx).submit([`E${newId()}`]);
}

async function compare(tx: Queryable, { id }: ChargeRow): Promise<void> {
  await findUnrecorded(tx, [{ endToEndId: `E${newId()}`, chargeId: id, returnIds: [] }]);
}
