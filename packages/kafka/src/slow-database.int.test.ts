import { createPool, type Database, type Transaction } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { sampled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { startTestMesh, type TestMesh } from './testing/test-mesh.ts';

/** A key of no lock of ours. */
const LOCK = 4_711n;

/** What every consumer of every service goes through, on a database that is there and too slow. */
let mesh: TestMesh;
let database: TestDatabase;
let other: Database;

beforeEach(async () => {
  [mesh, database] = await Promise.all([startTestMesh(), createTestDatabase('charges')]);
  other = createPool({ url: database.adminUrl, applicationName: 'other', max: 1 });
});
afterEach(async () => {
  await mesh[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function processOf(tx: Transaction): Promise<number> {
  const [row] = await tx.query<{ pid: number }>(sql`select pg_backend_pid() as pid`);
  return row?.pid ?? 0;
}

async function untilEnded(pid: number): Promise<void> {
  await eventually(async () => {
    expect(await other.query(sql`select from pg_stat_activity where pid = ${pid}`)).toEqual([]);
  });
}

const TROUBLES: [string, (tx: Transaction) => Promise<unknown>][] = [
  [
    'a statement that runs into its time limit',
    async (tx) => {
      await tx.query(sql`set local statement_timeout = '100ms'`);
      await tx.query(sql`select pg_sleep(15)`);
    },
  ],
  [
    'a row that somebody holds for longer than the lock timeout',
    async (tx) => {
      await tx.query(sql`set local lock_timeout = '100ms'`);
      await other.transaction(async (holder) => {
        await holder.query(sql`select pg_advisory_xact_lock(${LOCK})`);
        await tx.query(sql`select pg_advisory_xact_lock(${LOCK})`);
      });
    },
  ],
  [
    'a transaction that was ended because it stood still',
    async (tx) => {
      await tx.query(sql`set local idle_in_transaction_session_timeout = '100ms'`);
      await untilEnded(await processOf(tx));
      await tx.query(sql`select 1`);
    },
  ],
  [
    'a transaction whose session was ended',
    async (tx) => {
      const pid = await processOf(tx);
      await other.query(sql`select pg_terminate_backend(${pid}::int)`);
      await untilEnded(pid);
      await tx.query(sql`select 1`);
    },
  ],
  [
    'a statement after one that failed in its transaction',
    async (tx) => {
      await tx.query(sql`set local statement_timeout = '100ms'`);
      await tx.query(sql`select pg_sleep(15)`).catch(() => undefined);
      await tx.query(sql`select 1`);
    },
  ],
];

test.each(sampled(TROUBLES, 1))(
  '%s is no fault of the message: it comes again',
  async (_name, trouble) => {
    // More often than a message is tried that fails for no known reason.
    let troubles = 4;
    const handled: number[] = [];
    const { parked, consumer } = mesh.consume(async (number) => {
      await database.db.transaction(async (tx) => {
        if (number !== 2 || troubles === 0) return;
        troubles -= 1;
        await trouble(tx);
      });
      handled.push(number);
    });
    await mesh.sendNumbered(1, 2, 3);
    await eventually(() => expect(handled).toEqual([1, 2, 3]), 30_000);
    expect([troubles, parked]).toEqual([0, []]);
    expect(consumer.isAlive()).toBe(true);
  },
);
