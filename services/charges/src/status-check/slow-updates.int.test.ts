import { newId } from '@pixmesh/kernel/ids';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type ChargesUnderTest, startChargesUnderTest } from '#test/charges-under-test.ts';
import { createLedgerPeer } from '#test/ledger-peer.ts';

/** Longer than any statement may take (10 s). */
const SLOWED_S = 15;
/** Each consumer and job meets its time limit at least once. */
const SLOW_MS = scaled(16_000, 60_000);
const CHARGES = 6;
const PATIENCE_MS = 60_000;

let charges: ChargesUnderTest;
let admin: Database;
let ledger: ReturnType<typeof createLedgerPeer>;

beforeAll(async () => {
  charges = await startChargesUnderTest();
  admin = createPool({ url: charges.adminUrl, applicationName: 'test', max: 2 });
  ledger = createLedgerPeer(charges);
  await admin.query(sql`create sequence charges.slowed`);
  await admin.query(sql`create table charges.slowness (seconds integer not null)`);
  // What the sequence counts stays, though every statement that it counts is undone.
  await admin.query(sql`
    create function charges.slow_down() returns trigger language plpgsql security definer as $$
    begin
      perform nextval('charges.slowed') from charges.slowness;
      perform pg_sleep(seconds) from charges.slowness;
      return new;
    end $$`);
  await admin.query(sql`
    create trigger slowed before update on charges.charges
      for each row execute function charges.slow_down()`);
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await charges[Symbol.asyncDispose]();
});

async function aPayableCharge(): Promise<string> {
  const caller = { ...aCaller(), creation_id: newId() };
  await eventually(async () => {
    const created = await charges.request(caller, 'POST /v1/charges', {
      amount: 2_000,
      customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
    });
    expect(created.body.status).toBe('pending');
  }, PATIENCE_MS);
  await charges.simulator.control('POST', `/control/charges/${txidOf(caller.creation_id)}/pay`, {});
  return caller.creation_id;
}

function txidOf(id: string): string {
  return id.replaceAll('-', '');
}

async function countOf(status: string): Promise<number> {
  return (await charges.db.query(sql`select from charges where status = ${status}`)).length;
}

async function slowedStatements(): Promise<number> {
  const [row] = await admin.query<{ count: bigint }>(
    sql`select last_value as count from charges.slowed`,
  );
  return Number(row?.count ?? 0n);
}

test(
  `updates of charges that take ${SLOWED_S} s park no message, and all are paid once they are quick again`,
  async () => {
    const ids = await Promise.all(Array.from({ length: CHARGES }, aPayableCharge));
    const [credited, announced] = [ids.slice(0, CHARGES / 2), ids.slice(CHARGES / 2)];
    for (const id of credited) await charges.announce(id);
    await eventually(async () => {
      const rows = await charges.db.query(sql`select from charges where accepted_e2e is not null`);
      expect(rows).toHaveLength(credited.length);
    }, PATIENCE_MS);

    await admin.query(sql`insert into charges.slowness values (${SLOWED_S})`);
    const endMs = performance.now() + SLOW_MS;
    // The ledger's word for half of them, callbacks for the others, while no charge can be updated in time.
    await ledger.answerAll();
    for (const id of announced) await charges.announce(id);
    await eventually(async () => {
      expect(performance.now()).toBeGreaterThan(endMs);
      expect(await slowedStatements()).toBeGreaterThan(CHARGES);
    }, SLOW_MS + PATIENCE_MS);
    expect([await countOf('pending'), await countOf('paid')]).toEqual([CHARGES, 0]);
    expect(await charges.db.query(sql`select from dead_letters`)).toEqual([]);

    await admin.query(sql`delete from charges.slowness`);
    await eventually(async () => {
      await ledger.answerAll();
      expect(await countOf('paid')).toBe(CHARGES);
    }, PATIENCE_MS);
    expect(await charges.db.query(sql`select from dead_letters`)).toEqual([]);
    const credits = await charges.db.query(
      sql`select from events where type = 'received_pix.credit'`,
    );
    expect(credits).toHaveLength(CHARGES);
  },
  SLOW_MS + 4 * PATIENCE_MS,
);
