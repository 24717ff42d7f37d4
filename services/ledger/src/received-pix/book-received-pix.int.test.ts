import assert from 'node:assert';

import { armFailpoints } from '@pixmesh/http/failpoints';
import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { lockAccounts } from '#accounts/accounts.sql.ts';
import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import { countRows, findBreaks, readBalances } from '#testing/check-ledger.ts';
import { inLanes } from '#testing/in-lanes.ts';
import { aCredit, again, anEndToEndId, aSuspense, handle } from '#testing/received-pix-messages.ts';

import { bookReceivedPix } from './book-received-pix.ts';
import { fromCredit } from './received-pix-command.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let kicks = 0;
const kickOutbox = (): void => {
  kicks += 1;
};
const deps = () => ({ db: database.db, kickOutbox });

beforeAll(async () => {
  database = await createTestDatabase('ledger');
});
afterEach(async () => {
  assert.deepEqual(await findBreaks(database.db), []);
});
afterAll(() => database[Symbol.asyncDispose]());

describe('credit', () => {
  test('a credit moves the amount from clearing to available and says so in its event', async () => {
    const credit = aCredit({ amount: 12_345 });
    await handle(deps(), credit);
    const accountId = credit.account_id ?? '';
    expect(await readBalances(database.db, accountId)).toEqual({
      available: 12_345,
      pending: 0,
      acquirer_clearing: -12_345,
    });
    const [event] = await eventsOf(accountId);
    expect(event).toMatchObject({
      topic: 'ledger.events.v1',
      type: 'received_pix.credited',
      message: {
        account_id: accountId,
        data: {
          command_id: credit.data.command_id,
          end_to_end_id: credit.data.end_to_end_id,
          charge_id: credit.data.charge_id,
          amount: 12_345,
          balance: { available: 12_345, pending: 0 },
        },
      },
    });
  });

  test('the outbox is kicked once per journal and never by a repeat', async () => {
    kicks = 0;
    const credit = aCredit();
    await handle(deps(), credit);
    await handle(deps(), credit);
    expect(kicks).toBe(1);
  });

  test('each outcome reports the balance right after its own journal', async () => {
    const accountId = newId();
    for (const amount of [100, 250, 1]) await handle(deps(), aCredit({ accountId, amount }));
    const events = await eventsOf(accountId);
    expect(events.map((event) => event.message.data.balance.available)).toEqual([100, 350, 351]);
  });

  test('a credit with a release in the future stands in pending, with its release stored', async () => {
    const releaseAt = new Date(Date.now() + 3_600_000);
    const credit = aCredit({ amount: 700, releaseAt });
    await handle(deps(), credit);
    const accountId = credit.account_id ?? '';
    expect(await readBalances(database.db, accountId)).toMatchObject({
      available: 0,
      pending: 700,
    });
    const [event] = await eventsOf(accountId);
    expect(event?.message.data.balance).toEqual({ available: 0, pending: 700 });
    const releases = await database.db.query(
      sql`select journal_id, amount, release_at from releases where account_id = ${accountId}`,
    );
    expect(releases).toEqual([
      { journal_id: event?.message.data.journal_id, amount: 700n, release_at: releaseAt },
    ]);
  });

  test('a release that has passed by the clock of the database is available at once', async () => {
    const credit = aCredit({ amount: 700, releaseAt: new Date(Date.now() - 1_000) });
    const before = await countRows(database.db, 'releases');
    await handle(deps(), credit);
    expect(await readBalances(database.db, credit.account_id ?? '')).toMatchObject({
      available: 700,
      pending: 0,
    });
    expect(await countRows(database.db, 'releases')).toBe(before);
  });

  test('a credit without an account is refused and books nothing', async () => {
    const before = await countRows(database.db, 'journals');
    await expect(handle(deps(), aCredit({ accountId: null }))).rejects.toMatchObject({
      code: 'MESSAGE_INVALID',
    });
    expect(await countRows(database.db, 'journals')).toBe(before);
  });
});

describe('suspense', () => {
  test('a wrong amount stands in the suspense of its account, outside its balance', async () => {
    const suspense = aSuspense({ amount: 900, reason: 'second_pix' });
    await handle(deps(), suspense);
    const accountId = suspense.account_id ?? '';
    expect(await readBalances(database.db, accountId)).toEqual({
      available: 0,
      pending: 0,
      suspense: 900,
      acquirer_clearing: -900,
    });
    const items = await database.db.query(
      sql`
        select end_to_end_id, charge_id, amount, reason, resolved_at
        from suspense_items where account_id = ${accountId}`,
    );
    expect(items).toEqual([
      {
        end_to_end_id: suspense.data.end_to_end_id,
        charge_id: suspense.data.charge_id,
        amount: 900n,
        reason: 'second_pix',
        resolved_at: null,
      },
    ]);
    expect(await eventsOf(accountId)).toMatchObject([
      {
        type: 'received_pix.suspended',
        message: { data: { amount: 900, balance: { available: 0, pending: 0 } } },
      },
    ]);
  });

  test('an item has the id of the journal that booked it', async () => {
    const suspense = aSuspense();
    await handle(deps(), suspense);
    const rows = await database.db.query(sql`
      select journals.id from journals join suspense_items using (id)
      where command_id = ${suspense.data.command_id}`);
    expect(rows).toHaveLength(1);
  });

  test("money that nobody owns stands on the platform's own account", async () => {
    const suspense = aSuspense({ accountId: null, chargeId: null, amount: 333, reason: 'unowned' });
    await handle(deps(), suspense);
    expect(await readBalances(database.db, PLATFORM_ACCOUNT_ID)).toEqual({
      available: 0,
      pending: 0,
      suspense: 333,
      acquirer_clearing: -333,
    });
    const [event] = await eventsOf(PLATFORM_ACCOUNT_ID);
    expect(event?.message).toMatchObject({ account_id: null, data: { charge_id: null } });
  });

  test('suspense leaves what the merchant already has untouched and reports it', async () => {
    const accountId = newId();
    await handle(deps(), aCredit({ accountId, amount: 5_000 }));
    await handle(deps(), aSuspense({ accountId, amount: 1 }));
    const events = await eventsOf(accountId);
    expect(events[1]?.message.data.balance).toEqual({ available: 5_000, pending: 0 });
  });
});

describe('exactly once', () => {
  test('twenty identical credits at the same time move the money once', async () => {
    const credit = aCredit({ amount: 4_200 });
    await Promise.all(Array.from({ length: 20 }, () => handle(deps(), credit)));
    const accountId = credit.account_id ?? '';
    expect(await readBalances(database.db, accountId)).toMatchObject({ available: 4_200 });
    expect(await eventsOf(accountId)).toHaveLength(1);
    expect(await journalsOf(accountId)).toHaveLength(1);
  });

  test('a redelivered or republished command is answered its first outcome and writes nothing', async () => {
    const credit = aCredit({ amount: 4_200 });
    const first = await book(credit);
    await handle(deps(), aCredit({ accountId: credit.account_id, amount: 1 }));
    const rows = await counts();
    const repeat = await book(again(credit));
    expect(repeat).toEqual({ ...first, kind: 'repeated' });
    expect(repeat.outcome.balance).toEqual({ available: 4_200, pending: 0 });
    expect(await counts()).toEqual(rows);
  });

  test('a crash between the commit and the offset is harmless', async () => {
    const credit = aCredit({ amount: 640 });
    armFailpoints({ 'ledger.command.after-commit': 'error' });
    await expect(handle(deps(), credit)).rejects.toThrow('failpoint ledger.command.after-commit');
    await handle(deps(), credit);
    const accountId = credit.account_id ?? '';
    expect(await readBalances(database.db, accountId)).toMatchObject({ available: 640 });
    expect(await eventsOf(accountId)).toHaveLength(1);
  });

  test('a crash before the commit leaves nothing, and the redelivery books', async () => {
    const credit = aCredit({ amount: 640 });
    const transaction: typeof database.db.transaction = (work) =>
      database.db.transaction(async (tx) => {
        await work(tx);
        throw new Error('the process died before commit');
      });
    const dying = { ...deps(), db: { ...database.db, transaction } };
    await expect(handle(dying, credit)).rejects.toThrow('died before commit');
    expect(await journalsOf(credit.account_id ?? '')).toHaveLength(0);
    expect(await readBalances(database.db, credit.account_id ?? '')).toEqual({});
    await handle(deps(), credit);
    expect(await readBalances(database.db, credit.account_id ?? '')).toMatchObject({
      available: 640,
    });
  });

  test('commands of many accounts at the same time never lose or double a cent', async () => {
    const accounts = Array.from({ length: 5 }, () => newId());
    const credits = accounts.flatMap((accountId) =>
      Array.from({ length: 20 }, () => aCredit({ accountId, amount: 10 })),
    );
    const messages = [...credits, ...credits.map(again)];
    await inLanes(messages, (message) => handle(deps(), message));
    const everyStep = Array.from({ length: 20 }, (_, step) => (step + 1) * 10);
    for (const accountId of accounts) {
      expect(await readBalances(database.db, accountId)).toMatchObject({ available: 200 });
      // Outcomes queue up in the order of the journals, each with the balance of its own moment.
      const events = await eventsOf(accountId);
      expect(events.map((event) => event.message.data.balance.available)).toEqual(everyStep);
    }
  });
});

describe('one booking per received Pix, for ever', () => {
  test.each([
    ['a suspense after its credit', 'credit'],
    ['a credit after its suspense', 'suspend'],
  ] as const)('%s is refused and the first outcome stays', async (_name, first) => {
    const pix = { accountId: newId(), endToEndId: anEndToEndId(), chargeId: newId(), amount: 800 };
    const messages = [aCredit(pix), aSuspense(pix)];
    if (first === 'suspend') messages.reverse();
    const [winner, loser] = messages;
    await handle(deps(), winner!);
    const rows = await counts();
    const balances = await readBalances(database.db, pix.accountId);
    await expect(handle(deps(), loser!)).rejects.toMatchObject({
      code: 'MESSAGE_INVALID',
      retriable: false,
    });
    expect(await counts()).toEqual(rows);
    expect(await readBalances(database.db, pix.accountId)).toMatchObject(balances);
  });

  test('credit and suspense of one Pix that race leave exactly one of them', async () => {
    const pix = { accountId: newId(), endToEndId: anEndToEndId(), chargeId: newId(), amount: 800 };
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        handle(deps(), index % 2 === 0 ? aCredit(pix) : aSuspense(pix)),
      ),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(5);
    expect(await journalsOf(pix.accountId)).toHaveLength(1);
    expect(await eventsOf(pix.accountId)).toHaveLength(1);
  });

  test.each([
    ['amount', { amount: 801 }],
    ['account', { accountId: newId() }],
    ['charge', { chargeId: newId() }],
    ['release', { releaseAt: new Date('2030-01-01T00:00:00.000Z') }],
  ])('the same command with another %s is refused', async (_name, change) => {
    const pix = { accountId: newId(), endToEndId: anEndToEndId(), chargeId: newId(), amount: 800 };
    await handle(deps(), aCredit(pix));
    await expect(handle(deps(), aCredit({ ...pix, ...change }))).rejects.toMatchObject({
      code: 'MESSAGE_INVALID',
    });
    expect(await readBalances(database.db, pix.accountId)).toMatchObject({ available: 800 });
  });
});

describe('waiting', () => {
  test('an account that is locked for too long is waited for, never parked', async () => {
    const accountId = newId<AccountId>();
    const credit = aCredit({ accountId });
    await database.db.transaction(async (tx) => {
      await lockAccounts(tx, accountId, ['available']);
      await expect(handle(deps(), credit)).rejects.toMatchObject({ retriable: true });
    });
    await handle(deps(), credit);
    expect(await readBalances(database.db, accountId)).toMatchObject({ available: 1_000 });
  });
});

async function book(message: ReturnType<typeof aCredit>) {
  return await bookReceivedPix(
    deps(),
    fromCredit({ ...message, data: { ...message.data, amount: BigInt(message.data.amount) } }),
  );
}

async function counts(): Promise<number[]> {
  const tables = ['journals', 'entries', 'events', 'outbox', 'suspense_items', 'releases'] as const;
  return await Promise.all(tables.map((table) => countRows(database.db, table)));
}

type StoredEvent = {
  topic: string;
  type: string;
  message: {
    account_id: string | null;
    data: {
      journal_id: string;
      charge_id: string | null;
      amount: number;
      balance: { available: number; pending: number };
    };
  };
};

async function eventsOf(accountId: string): Promise<StoredEvent[]> {
  return await database.db.query<StoredEvent>(
    sql`
      select topic, type, message
      from events join outbox using (event_id)
      where key = ${accountId} order by outbox.id`,
  );
}

async function journalsOf(accountId: string): Promise<object[]> {
  return await database.db.query(sql`select id from journals where account_id = ${accountId}`);
}
