import assert from 'node:assert';

import { armFailpoints } from '@pixmesh/service/failpoints';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import { republishOutcome } from '#engine/republish-outcome.sql.ts';
import { ledgerCommandsConsumer } from '#ledger-commands.consumer.ts';
import { auditBooks } from '#test/audit-books.sql.ts';
import { countAllRows, countRows, readBalances } from '#test/read-ledger.ts';
import { workConcurrently } from '#test/work-concurrently.ts';

import {
  aReceivedPixCredit,
  again,
  anEndToEndId,
  aPayoutSuspend,
  aReceivedPixSuspend,
  handle,
} from '#test/ledger-messages.ts';
import {
  aLedgerUnderTest,
  journalsOf,
  type LedgerUnderTest,
  queuedEvents,
} from '#test/ledger-under-test.ts';

/** Commands as they come from their topic, through the service's own consumer. */
let ledger: LedgerUnderTest;

beforeAll(async () => {
  ledger = await aLedgerUnderTest();
});
afterEach(async () => {
  armFailpoints({});
  assert.deepEqual(await auditBooks(ledger.db), []);
});
afterAll(() => ledger[Symbol.asyncDispose]());

describe('credit', () => {
  test('a credit moves the amount from clearing to available and says so in its event', async () => {
    const credit = aReceivedPixCredit({ amount: 12_345 });
    await handle(ledger.engine, credit);
    const accountId = credit.account_id ?? '';
    expect(await readBalances(ledger.db, accountId)).toEqual({
      available: 12_345,
      acquirer_clearing: -12_345,
    });
    const [event] = await queuedEvents(ledger.db, accountId);
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

  test('the outbox is woken once per journal and never by a repeat', async () => {
    ledger.woken.times = 0;
    const credit = aReceivedPixCredit();
    await handle(ledger.engine, credit);
    await handle(ledger.engine, credit);
    expect(ledger.woken.times).toBe(1);
  });

  test('each outcome reports the balance right after its own journal', async () => {
    const accountId = newId();
    for (const amount of [100, 250, 1])
      await handle(ledger.engine, aReceivedPixCredit({ accountId, amount }));
    const events = await queuedEvents(ledger.db, accountId);
    expect(events.map((event) => event.message.data.balance.available)).toEqual([100, 350, 351]);
  });

  test('a credit with a release in the future stands in pending, with its release stored', async () => {
    const releaseAt = new Date(Date.now() + 3_600_000);
    const credit = aReceivedPixCredit({ amount: 700, releaseAt });
    await handle(ledger.engine, credit);
    const accountId = credit.account_id ?? '';
    expect(await readBalances(ledger.db, accountId)).toEqual({
      pending: 700,
      acquirer_clearing: -700,
    });
    const [event] = await queuedEvents(ledger.db, accountId);
    expect(event?.message.data.balance).toEqual({ available: 0, pending: 700 });
    const releases = await ledger.db.query(
      sql`select command_id, amount, release_at from releases where account_id = ${accountId}`,
    );
    expect(releases).toEqual([
      { command_id: event?.message.data.journal_id, amount: 700n, release_at: releaseAt },
    ]);
  });

  test('a release that has passed by the clock of the database is available at once', async () => {
    const credit = aReceivedPixCredit({ amount: 700, releaseAt: new Date(Date.now() - 1_000) });
    const before = await countRows(ledger.db, 'releases');
    await handle(ledger.engine, credit);
    expect(await readBalances(ledger.db, credit.account_id ?? '')).toEqual({
      available: 700,
      acquirer_clearing: -700,
    });
    expect(await countRows(ledger.db, 'releases')).toBe(before);
  });

  test('a credit without an account is refused and books nothing', async () => {
    const before = await countRows(ledger.db, 'journals');
    await expect(
      handle(ledger.engine, aReceivedPixCredit({ accountId: null })),
    ).rejects.toMatchObject({
      code: 'MESSAGE_INVALID',
    });
    expect(await countRows(ledger.db, 'journals')).toBe(before);
  });
});

describe('a command that comes again', () => {
  test('has its first outcome published again where its sender asks, and else changes and says nothing', async () => {
    const credit = aReceivedPixCredit({ amount: 700 });
    const accountId = credit.account_id ?? '';
    await handle(ledger.engine, credit);
    await handle(ledger.engine, aReceivedPixCredit({ accountId, amount: 50 }));
    const [first, second] = await queuedEvents(ledger.db, accountId);
    await handle(ledger.engine, again(credit));
    expect(await queuedEvents(ledger.db, accountId)).toEqual([first, second]);
    // What is still to be published is not queued a second time.
    expect(await republishOutcome(ledger.db, credit.data.command_id)).toBe(false);
    await ledger.db.query(sql`delete from outbox`);
    expect(await republishOutcome(ledger.db, credit.data.command_id)).toBe(true);
    expect(await queuedEvents(ledger.db, accountId)).toEqual([first]);
    expect(await ledger.db.query(sql`select is_resend from outbox`)).toEqual([{ is_resend: true }]);
    expect(await readBalances(ledger.db, accountId)).toMatchObject({ available: 750 });
  });

  test('a command that nobody has decided has no outcome to publish', async () => {
    expect(await republishOutcome(ledger.db, newId())).toBe(false);
  });

  test.each([
    { isResend: true, times: 1 },
    { isResend: false, times: 0 },
  ])('asks by the header: $isResend', async ({ isResend, times }) => {
    const asked: string[] = [];
    const credit = aReceivedPixCredit();
    const { handlers } = ledgerCommandsConsumer({
      engine: ledger.engine,
      republishOutcome: async (commandId) => void asked.push(commandId),
    });
    const handler = handlers.find(({ message }) => message.type === credit.type);
    await handler?.handle(credit, { isResend: true });
    expect(asked).toEqual([]);
    await handler?.handle(credit, { isResend });
    expect(asked).toEqual(Array(times).fill(credit.data.command_id));
  });
});

describe('suspense', () => {
  test('a wrong amount stands in the suspense of its account, outside its balance', async () => {
    const suspense = aReceivedPixSuspend({ amount: 900, reason: 'second_pix' });
    await handle(ledger.engine, suspense);
    const accountId = suspense.account_id ?? '';
    expect(await readBalances(ledger.db, accountId)).toEqual({
      suspense: 900,
      acquirer_clearing: -900,
    });
    const items = await ledger.db.query(
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
    expect(await queuedEvents(ledger.db, accountId)).toMatchObject([
      {
        type: 'received_pix.suspended',
        message: { data: { amount: 900, balance: { available: 0, pending: 0 } } },
      },
    ]);
  });

  test('an item has the id of the journal that booked it', async () => {
    const suspense = aReceivedPixSuspend();
    await handle(ledger.engine, suspense);
    const rows = await ledger.db.query(sql`
      select from journals join suspense_items on id = command_id
      where command_id = ${suspense.data.command_id}`);
    expect(rows).toHaveLength(1);
  });

  test("money that nobody owns stands on the platform's own account", async () => {
    const suspense = aReceivedPixSuspend({
      accountId: null,
      chargeId: null,
      amount: 333,
      reason: 'unowned',
    });
    await handle(ledger.engine, suspense);
    expect(await readBalances(ledger.db, PLATFORM_ACCOUNT_ID)).toEqual({
      suspense: 333,
      acquirer_clearing: -333,
    });
    const [event] = await queuedEvents(ledger.db, PLATFORM_ACCOUNT_ID);
    expect(event?.message).toMatchObject({ account_id: null, data: { charge_id: null } });
  });

  test('suspense leaves what the merchant already has untouched and reports it', async () => {
    const accountId = newId();
    await handle(ledger.engine, aReceivedPixCredit({ accountId, amount: 5_000 }));
    await handle(ledger.engine, aReceivedPixSuspend({ accountId, amount: 1 }));
    const events = await queuedEvents(ledger.db, accountId);
    expect(events[1]?.message.data.balance).toEqual({ available: 5_000, pending: 0 });
  });
});

describe('exactly once', () => {
  test('twenty identical credits at the same time move the money once', async () => {
    const credit = aReceivedPixCredit({ amount: 4_200 });
    await Promise.all(Array.from({ length: 20 }, () => handle(ledger.engine, credit)));
    const accountId = credit.account_id ?? '';
    expect(await readBalances(ledger.db, accountId)).toMatchObject({ available: 4_200 });
    expect(await queuedEvents(ledger.db, accountId)).toHaveLength(1);
    expect(await journalsOf(ledger.db, accountId)).toHaveLength(1);
  });

  test('a redelivered or republished command writes and publishes nothing', async () => {
    const credit = aReceivedPixCredit({ amount: 4_200 });
    await handle(ledger.engine, credit);
    await handle(ledger.engine, aReceivedPixCredit({ accountId: credit.account_id, amount: 1 }));
    const rows = await countAllRows(ledger.db);
    await handle(ledger.engine, again(credit));
    expect(await countAllRows(ledger.db)).toEqual(rows);
  });

  test('a crash between the commit and the offset is harmless', async () => {
    const credit = aReceivedPixCredit({ amount: 640 });
    armFailpoints({ 'ledger.command.after-commit': 'error' });
    await expect(handle(ledger.engine, credit)).rejects.toThrow(
      'failpoint ledger.command.after-commit',
    );
    await handle(ledger.engine, credit);
    const accountId = credit.account_id ?? '';
    expect(await readBalances(ledger.db, accountId)).toMatchObject({ available: 640 });
    expect(await queuedEvents(ledger.db, accountId)).toHaveLength(1);
  });

  test('commands of many accounts at the same time never lose or double a cent', async () => {
    const accounts = Array.from({ length: 5 }, () => newId());
    const credits = accounts.flatMap((accountId) =>
      Array.from({ length: 20 }, () => aReceivedPixCredit({ accountId, amount: 10 })),
    );
    const messages = [...credits, ...credits.map(again)];
    await workConcurrently(messages, (message) => handle(ledger.engine, message));
    const everyStep = Array.from({ length: 20 }, (_, step) => (step + 1) * 10);
    for (const accountId of accounts) {
      expect(await readBalances(ledger.db, accountId)).toMatchObject({ available: 200 });
      // Outcomes queue up in the order of the journals, each with the balance of its own moment.
      const events = await queuedEvents(ledger.db, accountId);
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
    const messages = [aReceivedPixCredit(pix), aReceivedPixSuspend(pix)];
    if (first === 'suspend') messages.reverse();
    const [winner, loser] = messages;
    await handle(ledger.engine, winner!);
    const rows = await countAllRows(ledger.db);
    const balances = await readBalances(ledger.db, pix.accountId);
    await expect(handle(ledger.engine, loser!)).rejects.toMatchObject({
      code: 'CONFLICT',
      retriable: false,
    });
    expect(await countAllRows(ledger.db)).toEqual(rows);
    expect(await readBalances(ledger.db, pix.accountId)).toMatchObject(balances);
  });

  test('credit and suspense of one Pix that race leave exactly one of them', async () => {
    const pix = { accountId: newId(), endToEndId: anEndToEndId(), chargeId: newId(), amount: 800 };
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        handle(ledger.engine, index % 2 === 0 ? aReceivedPixCredit(pix) : aReceivedPixSuspend(pix)),
      ),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(5);
    expect(await journalsOf(ledger.db, pix.accountId)).toHaveLength(1);
    expect(await queuedEvents(ledger.db, pix.accountId)).toHaveLength(1);
  });

  test.each([
    ['amount', { amount: 801 }],
    ['account', { accountId: newId() }],
    ['charge', { chargeId: newId() }],
    ['release', { releaseAt: new Date('2030-01-01T00:00:00.000Z') }],
  ])('the same command with another %s is refused', async (_name, change) => {
    const pix = { accountId: newId(), endToEndId: anEndToEndId(), chargeId: newId(), amount: 800 };
    await handle(ledger.engine, aReceivedPixCredit(pix));
    await expect(
      handle(ledger.engine, aReceivedPixCredit({ ...pix, ...change })),
    ).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(await readBalances(ledger.db, pix.accountId)).toMatchObject({ available: 800 });
  });
});

describe('what the acquirer did against what was told', () => {
  test.each([
    ['out', -400],
    ['in', 400],
  ] as const)('money that went %s stands in suspense with its sign', async (direction, cents) => {
    const message = aPayoutSuspend({ direction, amount: 400 });
    const accountId = message.account_id ?? '';
    await handle(ledger.engine, message);
    expect(await readBalances(ledger.db, accountId)).toEqual({
      suspense: cents,
      acquirer_clearing: -cents,
    });
    const items = await ledger.db.query(sql`
      select payout_id, charge_id, amount, reason from suspense_items where account_id = ${accountId}`);
    const { payout_id, reason } = message.data;
    expect(items).toEqual([{ payout_id, charge_id: null, amount: BigInt(cents), reason }]);
  });

  test('a send that is nobody’s stands on the platform’s own account', async () => {
    const message = aPayoutSuspend({ accountId: null, direction: 'out', amount: 77 });
    const before = (await readBalances(ledger.db, PLATFORM_ACCOUNT_ID)).suspense ?? 0;
    await handle(ledger.engine, message);
    const after = (await readBalances(ledger.db, PLATFORM_ACCOUNT_ID)).suspense ?? 0;
    expect(after - before).toBe(-77);
  });
});
