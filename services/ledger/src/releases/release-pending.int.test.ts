import type { AccountId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { auditBooks } from '#test/audit-books.sql.ts';
import { countRows, readBalances } from '#test/read-ledger.ts';
import { receivedPixCredit, pendingRelease, holdTake } from '#test/ledger-commands.ts';
import { aLedgerUnderTest, journalsOf, type LedgerUnderTest } from '#test/ledger-under-test.ts';

import { releaseCommand, startReleasePending } from './release-pending.job.ts';
import { HAS_DUE_RELEASE, readOldestReleaseAge, takeDueReleases } from './releases.sql.ts';

const logger = createLogger('ledger', 'silent');
let ledger: LedgerUnderTest;

beforeAll(async () => {
  ledger = await aLedgerUnderTest();
});
afterAll(() => ledger[Symbol.asyncDispose]());

/** A credit that stands in `pending`, already due as far as the table says. */
async function aDueCredit(accountId: AccountId, amount: number) {
  const command = receivedPixCredit({
    accountId,
    amount,
    releaseAt: new Date(Date.now() + 3_600_000),
  });
  await ledger.submit(command);
  await ledger.db.query(sql`
    update releases set release_at = now() - interval '1 second'
    where command_id = ${command.commandId}`);
  return command;
}

async function withJob(work: () => Promise<void>, replicas = 1): Promise<void> {
  const jobs = Array.from({ length: replicas }, () => startReleasePending({ ...ledger, logger }));
  try {
    await work();
  } finally {
    await Promise.all(jobs.map((job) => job[Symbol.asyncDispose]()));
  }
}

describe('pending money', () => {
  test('becomes available when its time has come, once, and its release is done with', async () => {
    const accountId = newId<AccountId>();
    await aDueCredit(accountId, 700);
    expect(await readBalances(ledger.db, accountId)).toMatchObject({ pending: 700 });
    await withJob(async () => {
      await eventually(async () => expect(await countRows(ledger.db, 'releases')).toBe(0));
    }, 3);
    expect(await readBalances(ledger.db, accountId)).toEqual({
      available: 700,
      acquirer_clearing: -700,
    });
    expect((await journalsOf(ledger.db, accountId)).map(({ kind }) => kind)).toEqual([
      'credit_received_pix',
      'release_pending',
    ]);
  });

  test('can be held as soon as it is available, and not before', async () => {
    const accountId = newId<AccountId>();
    const credited = await aDueCredit(accountId, 700);
    expect(await ledger.submit(holdTake({ accountId, amount: 1 }))).toMatchObject({
      code: 'insufficient_balance',
    });
    await ledger.submit(pendingRelease(credited));
    expect(await ledger.submit(holdTake({ accountId, amount: 700 }))).toMatchObject({
      code: 'booked',
    });
  });

  test('waits until its time', async () => {
    const accountId = newId<AccountId>();
    const releaseAt = new Date(Date.now() + 3_600_000);
    const credited = receivedPixCredit({ accountId, amount: 50, releaseAt });
    await ledger.submit(credited);
    expect(await takeDueReleases(ledger.db, 10)).toEqual([]);
    await ledger.submit(pendingRelease(credited));
  });

  test('many at once all become available, shared by replicas', async () => {
    const accounts = Array.from({ length: 5 }, () => newId<AccountId>());
    for (const accountId of accounts) {
      for (let amount = 1; amount <= 20; amount += 1) await aDueCredit(accountId, amount);
    }
    await withJob(async () => {
      await eventually(async () => expect(await countRows(ledger.db, 'releases')).toBe(0));
    }, 2);
    for (const accountId of accounts) {
      expect(await readBalances(ledger.db, accountId)).toMatchObject({ available: 210 });
    }
  });
});

describe('releases of many accounts', () => {
  test('are taken in turns by account: those of one do not delay another', async () => {
    const [flood, other] = [newId<AccountId>(), newId<AccountId>()];
    for (let amount = 1; amount <= 5; amount += 1) await aDueCredit(flood, amount);
    for (let amount = 6; amount <= 7; amount += 1) await aDueCredit(other, amount);
    const takeAmounts = async () => {
      const taken = await takeDueReleases(ledger.db, 4);
      for (const release of taken) await ledger.submit(releaseCommand(release));
      return taken.map(({ amount }) => Number(amount)).toSorted();
    };
    expect(await takeAmounts()).toEqual([1, 2, 6, 7]);
    expect(await takeAmounts()).toEqual([3, 4, 5]);
  });
});

describe('a release', () => {
  test('that is taken is not taken by another replica', async () => {
    const credited = await aDueCredit(newId<AccountId>(), 5);
    const [first, second] = [
      await takeDueReleases(ledger.db, 10),
      await takeDueReleases(ledger.db, 10),
    ];
    expect(first).toEqual([
      { creditId: credited.commandId, accountId: credited.accountId, amount: 5n },
    ]);
    expect(second).toEqual([]);
    await ledger.submit(pendingRelease(credited));
  });

  test('that was booked by a process that died is not booked again, and goes', async () => {
    const credited = await aDueCredit(newId<AccountId>(), 5);
    const { commandId, accountId } = credited;
    const release = { creditId: commandId, accountId, amount: 5n };
    await ledger.submit(releaseCommand(release));
    await ledger.db.query(sql`
      insert into releases (command_id, account_id, amount, release_at)
      values (${commandId}, ${accountId}, 5, now())`);
    expect(await ledger.submit(releaseCommand(release))).toMatchObject({ repeated: true });
    expect(await countRows(ledger.db, 'releases')).toBe(0);
    expect(await readBalances(ledger.db, accountId)).toMatchObject({ available: 5 });
  });

  test('that is late shows in its age', async () => {
    expect(await readOldestReleaseAge(ledger.db)).toBe(0);
    const credited = await aDueCredit(newId<AccountId>(), 5);
    // The column holds milliseconds, and rounds them.
    expect(await readOldestReleaseAge(ledger.db)).toBeGreaterThan(0.999);
    await ledger.submit(pendingRelease(credited));
  });
});

test('the books stay sound', async () => {
  expect(await auditBooks(ledger.db)).toEqual([]);
});

test('the poll finds a release that is due, and none that is to come', async () => {
  await ledger.db.query(sql`delete from releases`);
  const isDue = async () => (await ledger.db.query(sql`select ${HAS_DUE_RELEASE} as due`))[0];
  expect(await isDue()).toEqual({ due: null });
  const { commandId } = await aDueCredit(newId<AccountId>(), 300);
  expect(await isDue()).toEqual({ due: true });
  await ledger.db.query(sql`
    update releases set release_at = now() + interval '1 hour' where command_id = ${commandId}`);
  expect(await isDue()).toEqual({ due: false });
});
