import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { migrateSchema } from '@pixmesh/postgres/migrate';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { TEST_PASSWORD } from '@pixmesh/testkit/test-infra';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { executeBatch } from '#engine/execute-batch.ts';
import { takeDueReleases } from '#releases/releases.sql.ts';
import { auditBooks } from '#test/audit-books.sql.ts';
import { countRows, readBalances } from '#test/read-ledger.ts';
import { bookInFirstVersion } from '#test/first-version-books.ts';
import {
  receivedPixCredit,
  pendingRelease,
  receivedPixSuspend,
  holdTake,
} from '#test/ledger-commands.ts';
import { journalsOf } from '#test/ledger-under-test.ts';

const wakeOutbox = (): void => undefined;

/** The books of an installation that ran the first version, carried over by the migrations after it. */
const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));
const [one, other] = [newId<AccountId>(), newId<AccountId>()];
const pending = receivedPixCredit({
  accountId: one,
  amount: 30,
  releaseAt: new Date('2026-11-01T00:00:00.000Z'),
});
const BOOKED = [
  receivedPixCredit({ accountId: one, amount: 1_000 }),
  receivedPixCredit({ accountId: other, amount: 7 }),
  receivedPixSuspend({ accountId: one, amount: 50, reason: 'second_pix' }),
  pending,
  receivedPixCredit({ accountId: one, amount: 200 }),
];
/** Ids of one millisecond have no order: the last two were booked the other way round. */
const JOURNAL_IDS = BOOKED.map(() => newId());
JOURNAL_IDS.push(...JOURNAL_IDS.splice(-2).toReversed());

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let admin: Database;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  admin = createPool({ url: database.adminUrl, applicationName: 'carry-over', max: 1 });
  await admin.query(sql`drop schema ledger cascade`);
  const first = mkdtempSync(path.join(tmpdir(), 'pixmesh-ledger-'));
  copyFileSync(path.join(MIGRATIONS, '0001_ledger.sql'), path.join(first, '0001_ledger.sql'));
  await migrate(first);
  rmSync(first, { recursive: true });
  await admin.query(sql`select set_config('search_path', 'ledger', false)`);
  for (const [at, command] of BOOKED.entries()) {
    await bookInFirstVersion(admin, command, JOURNAL_IDS[at]);
  }
  await migrate(MIGRATIONS);
  await admin.query(sql`select ensure_event_partitions(1)`);
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test('every cent stands where it stood, and the books are sound', async () => {
  expect(await readBalances(database.db, one)).toEqual({
    available: 1_200,
    pending: 30,
    suspense: 50,
    acquirer_clearing: -1_280,
  });
  expect(await readBalances(database.db, other)).toEqual({ available: 7, acquirer_clearing: -7 });
  expect(await auditBooks(database.db)).toEqual([]);
});

test('journals are numbered in the order in which they were booked, by their commands', async () => {
  const journals = await journalsOf(database.db, one);
  expect(journals.map(({ command_id }) => command_id)).toEqual(
    BOOKED.filter(({ accountId }) => accountId === one).map(({ commandId }) => commandId),
  );
  expect(journals.map(({ version }) => version)).toEqual([1n, 2n, 3n, 4n]);
});

test('a balance after each journal is that of the journal, whatever the order of their ids', async () => {
  const rows = await database.db.query<{ version: bigint; balance_after: bigint }>(sql`
    select version, balance_after
    from entries
    where account_id = ${one} and kind = 'acquirer_clearing'
    order by version`);
  expect(rows.map(({ version, balance_after }) => [version, balance_after])).toEqual([
    [1n, -1_000n],
    [2n, -1_050n],
    [3n, -1_080n],
    [4n, -1_280n],
  ]);
});

test('a command that was booked then is recognised now, and another content refused', async () => {
  const outcomes = await executeBatch(
    { db: database.db, wakeOutbox, lockedOwners: new Set() },
    BOOKED,
  );
  expect(outcomes).toMatchObject(BOOKED.map(() => ({ code: 'booked', repeated: true })));
  const changed = { ...BOOKED[0]!, chargeId: null };
  expect(
    await executeBatch({ db: database.db, wakeOutbox, lockedOwners: new Set() }, [changed]),
  ).toMatchObject([{ reason: 'other_content' }]);
});

test('suspense and pending money go on under their commands', async () => {
  const items = await database.db.query(sql`select id, amount, reason from suspense_items`);
  expect(items).toEqual([{ id: BOOKED[2]!.commandId, amount: 50n, reason: 'second_pix' }]);
  expect(await takeDueReleases(database.db, 10)).toMatchObject([{ creditId: pending.commandId }]);
  await executeBatch({ db: database.db, wakeOutbox, lockedOwners: new Set() }, [
    pendingRelease(pending),
  ]);
  expect(await countRows(database.db, 'releases')).toBe(0);
});

test('money can be held on top of it, and nothing of the first version is left', async () => {
  const hold = holdTake({ accountId: one, amount: 1_230 });
  expect(
    await executeBatch({ db: database.db, wakeOutbox, lockedOwners: new Set() }, [hold]),
  ).toMatchObject([{ code: 'booked', version: 6n }]);
  expect(await auditBooks(database.db)).toEqual([]);
  const left = await database.db.query(
    sql`select from pg_class where relnamespace = 'ledger'::regnamespace and relname like '%0001%'`,
  );
  expect(left).toEqual([]);
});

async function migrate(migrationsDir: string): Promise<void> {
  await migrateSchema({
    adminUrl: database.adminUrl,
    schema: 'ledger',
    password: TEST_PASSWORD,
    migrationsDir,
    mechanisms: ['outbox'],
  });
}
