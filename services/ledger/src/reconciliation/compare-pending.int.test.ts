import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import type { FoundBreak } from '@pixmesh/reconciliation/check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { ReceivedPixCredit } from '#commands/ledger-command.ts';
import { pendingRelease, receivedPixCredit } from '#test/ledger-commands.ts';
import { aLedgerUnderTest, type LedgerUnderTest } from '#test/ledger-under-test.ts';
import { explainedDatabase, observedDatabase } from '#test/observed-database.ts';
import { aCheck } from '#test/run-check.ts';

const HOUR_AGO = new Date(Date.now() - 3_600_000);
const IN_AN_HOUR = new Date(Date.now() + 3_600_000);
/** More than one statement reads. */
const WAITING = 120_000;
const READ_AT_ONCE_MAX = 100_000;
/** Of the merchant's journals, none of which an incremental run walks over by itself. */
const MANY_JOURNALS = 20_000;
/** Credits that were never pending. */
const AVAILABLE = 300;

let ledger: LedgerUnderTest;
/** Has not moved for long, and waits for very many releases. */
let merchant: AccountId;

beforeAll(async () => {
  ledger = await aLedgerUnderTest();
  merchant = newId<AccountId>();
  await ledger.db.query(sql`
    insert into accounts (account_id, pending, acquirer_clearing, version)
    values (${merchant}, ${WAITING}, ${-WAITING}, ${MANY_JOURNALS})`);
  await ledger.db.query(sql`
    insert into releases (command_id, account_id, amount, release_at)
    select gen_random_uuid(), ${merchant}, 1, ${IN_AN_HOUR}
    from generate_series(1, ${WAITING}::int)`);
});
afterAll(() => ledger[Symbol.asyncDispose]());

async function aPendingCredit(accountId: AccountId, amount: number): Promise<ReceivedPixCredit> {
  const command = receivedPixCredit({ accountId, amount, releaseAt: IN_AN_HOUR });
  await ledger.submit(command);
  return command;
}

function unequal(accountId: AccountId, items: number, stored: number): FoundBreak {
  return {
    kind: 'balance',
    id: accountId,
    accountId,
    expected: String(items),
    found: String(stored),
    amountCents: BigInt(stored - items),
  };
}

describe('with more releases than one statement reads', () => {
  test('a full run compares all of them, in pieces', async () => {
    const db = explainedDatabase(ledger.db);
    const { compared, breaks } = await aCheck(db, 'pending_entries')();
    expect(compared).toBeGreaterThanOrEqual(WAITING);
    expect(breaks).toEqual([]);
    expect(db.read.rowsMax).toBeLessThan(READ_AT_ONCE_MAX);
  });

  test('an incremental run compares the credits of owners that moved, each with its own release, by keys', async () => {
    const accountId = newId<AccountId>();
    await Promise.all(
      Array.from({ length: AVAILABLE }, () => ledger.submit(receivedPixCredit({ accountId }))),
    );
    const waiting = await aPendingCredit(accountId, 7);
    const released = await aPendingCredit(accountId, 5);
    await ledger.submit(pendingRelease(released));
    const db = explainedDatabase(ledger.db);
    const check = aCheck(db, 'pending_entries');
    const find = async () => (await check({ since: HOUR_AGO })).breaks;
    expect(await check({ since: HOUR_AGO })).toEqual({ compared: 2, breaks: [] });

    await ledger.db.query(
      sql`update releases set amount = 8 where command_id = ${waiting.commandId}`,
    );
    expect(await find()).toEqual([unequal(accountId, 8, 7)]);
    await ledger.db.query(sql`delete from releases where command_id = ${waiting.commandId}`);
    expect(await find()).toEqual([unequal(accountId, 0, 7)]);
    await ledger.db.query(sql`
      insert into releases (command_id, account_id, amount, release_at)
      values
        (${waiting.commandId}, ${accountId}, 7, ${IN_AN_HOUR}),
        (${released.commandId}, ${accountId}, 5, ${IN_AN_HOUR})`);
    expect(await find()).toEqual([unequal(accountId, 5, 0)]);
    await ledger.db.query(sql`delete from releases where command_id = ${released.commandId}`);
    expect(await find()).toEqual([]);

    for (const key of ['entries_pkey', 'journals_version', 'journals_pkey', 'releases_pkey']) {
      expect(db.read.scans).toContain(key);
    }
    expect(db.read.rowsMax).toBeLessThan(20);
  });

  test('a difference is compared again, however long its owner has not moved, until it is mended', async () => {
    const check = aCheck(ledger.db, 'pending_entries');
    const known = { since: HOUR_AGO, knownIds: [merchant] };
    const [taken] = await ledger.db.query<{ command_id: string }>(sql`
      delete from releases
      where command_id = (select command_id from releases where account_id = ${merchant} limit 1)
      returning command_id`);
    const breaks = [unequal(merchant, WAITING - 1, WAITING)];
    expect((await check()).breaks).toEqual(breaks);
    expect((await check({ since: HOUR_AGO })).breaks).toEqual([]);
    expect((await check(known)).breaks).toEqual(breaks);
    await ledger.db.query(sql`
      insert into releases (command_id, account_id, amount, release_at)
      values (${taken?.command_id}, ${merchant}, 1, ${IN_AN_HOUR})`);
    expect((await check(known)).breaks).toEqual([]);
  });

  test.each([
    ['a full', null],
    ['an incremental', HOUR_AGO],
  ])('what is booked between the statements of %s run is no difference', async (_name, since) => {
    const accountId = newId<AccountId>();
    let waiting = await aPendingCredit(accountId, 1);
    let booked = 1;
    const db = observedDatabase(ledger.db, async () => {
      const due = waiting;
      waiting = await aPendingCredit(accountId, (booked += 1));
      await ledger.submit(pendingRelease(due));
    });
    expect((await aCheck(db, 'pending_entries')({ since })).breaks).toEqual([]);
    expect(booked).toBeGreaterThan(2);
  });
});
