import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import { aLedgerApp, type LedgerApp } from '#test/ledger-app.ts';
import { holdTake } from '#test/ledger-commands.ts';
import {
  aReceivedPixCredit,
  aHoldSettle,
  aReceivedPixSuspend,
  handle,
} from '#test/ledger-messages.ts';

type Journal = {
  id: string;
  kind: string;
  command_id: string;
  resource_id: string | null;
  created_at: string;
  entries: { account: string; direction: string; amount: number }[];
};
type Page = { object: string; data: Journal[]; has_more: boolean };

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let ledger: LedgerApp;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  ledger = await aLedgerApp(database.db);
});
afterAll(async () => {
  await ledger.app.close();
  await ledger.engine.stop();
  await database[Symbol.asyncDispose]();
});

describe('GET /internal/accounts/{id}/journals', () => {
  test('shows a journal with its entries, the debit first', async () => {
    const credit = aReceivedPixCredit({ amount: 1_234 });
    await book(credit);
    const page = await list(credit.account_id ?? '');
    expect(page).toEqual({
      object: 'list',
      has_more: false,
      data: [
        {
          id: credit.data.command_id,
          object: 'journal',
          kind: 'credit_received_pix',
          command_id: credit.data.command_id,
          resource_id: credit.data.charge_id,
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          entries: [
            { account: 'acquirer_clearing', direction: 'debit', amount: 1_234 },
            { account: 'available', direction: 'credit', amount: 1_234 },
          ],
        },
      ],
    });
  });

  test('shows a hold, its settlement with the fee, and the payout they are for', async () => {
    const accountId = newId();
    await book(aReceivedPixCredit({ accountId, amount: 1_000 }));
    const hold = holdTake({ accountId: accountId as AccountId, amount: 300, fee: 5 });
    await ledger.engine.submit(hold);
    await book(aHoldSettle(hold));
    const { data } = await list(accountId, '?limit=2');
    expect(data).toMatchObject([
      {
        kind: 'settle_hold',
        resource_id: hold.resourceId,
        entries: [
          { account: 'held', direction: 'debit', amount: 305 },
          { account: 'fees', direction: 'credit', amount: 5 },
          { account: 'acquirer_clearing', direction: 'credit', amount: 300 },
        ],
      },
      {
        kind: 'take_hold',
        id: hold.holdId,
        resource_id: hold.resourceId,
        entries: [
          { account: 'available', direction: 'debit', amount: 305 },
          { account: 'held', direction: 'credit', amount: 305 },
        ],
      },
    ]);
  });

  test('leaves out commands that moved nothing', async () => {
    const accountId = newId();
    const refused = holdTake({ accountId: accountId as AccountId });
    await ledger.engine.submit(refused);
    expect(await list(accountId)).toEqual({ object: 'list', data: [], has_more: false });
    const asked = await ask(accountId, `?starting_after=${refused.commandId}`);
    expect(asked.statusCode).toBe(400);
  });

  test('names the account a delayed credit and a suspense went to', async () => {
    const accountId = newId();
    await book(aReceivedPixCredit({ accountId, releaseAt: new Date(Date.now() + 60_000) }));
    await book(aReceivedPixSuspend({ accountId }));
    const { data } = await list(accountId);
    expect(data.map((journal) => journal.kind)).toEqual([
      'suspend_received_pix',
      'credit_received_pix',
    ]);
    expect(data.map((journal) => journal.entries[1]?.account)).toEqual(['suspense', 'pending']);
  });

  test('pages through all journals, newest first, each exactly once', async () => {
    const accountId = newId();
    const booked: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      const credit = aReceivedPixCredit({ accountId });
      await book(credit);
      booked.unshift(credit.data.command_id);
    }
    const seen: string[] = [];
    let cursor = '';
    for (let more = true; more;) {
      const page: Page = await list(accountId, `?limit=3${cursor}`);
      expect(page.data.length).toBeLessThanOrEqual(3);
      seen.push(...page.data.map((journal) => journal.command_id));
      cursor = `&starting_after=${page.data.at(-1)?.id}`;
      more = page.has_more;
    }
    expect(seen).toEqual(booked);
  });

  test('has no more when the page ends exactly at the last journal', async () => {
    const accountId = newId();
    for (let index = 0; index < 2; index += 1) await book(aReceivedPixCredit({ accountId }));
    expect((await list(accountId, '?limit=2')).has_more).toBe(false);
    expect((await list(accountId, '?limit=1')).has_more).toBe(true);
  });

  test('is empty for an account that the ledger has never heard of', async () => {
    expect(await list(newId())).toEqual({ object: 'list', data: [], has_more: false });
  });

  test("keeps one account's journals from another's", async () => {
    const credit = aReceivedPixCredit();
    await book(credit);
    await book(aReceivedPixCredit());
    const { data } = await list(credit.account_id ?? '');
    expect(data.map((journal) => journal.command_id)).toEqual([credit.data.command_id]);
  });

  test("shows money that nobody owns under the platform's own account", async () => {
    const suspense = aReceivedPixSuspend({ accountId: null, chargeId: null, reason: 'unowned' });
    await book(suspense);
    const { data } = await list(PLATFORM_ACCOUNT_ID);
    expect(data).toMatchObject([{ command_id: suspense.data.command_id, resource_id: null }]);
  });
});

describe('what is refused', () => {
  test.each(['limit=0', 'limit=101', 'limit=abc', 'limit=1e1'])('%s names limit', async (query) => {
    const response = await ask(newId(), `?${query}`);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({ code: 'VALIDATION_ERROR', details: ['limit'] });
  });

  test('an ill-formed, unknown or foreign cursor gets one and the same answer', async () => {
    const mine = aReceivedPixCredit();
    const theirs = aReceivedPixCredit();
    await book(mine);
    await book(theirs);
    const foreign = (await list(theirs.account_id ?? '')).data[0]?.id;
    for (const cursor of ['not-a-uuid', newId(), foreign]) {
      const response = await ask(mine.account_id ?? '', `?starting_after=${cursor}`);
      expect(response.statusCode).toBe(400);
      expect(response.json()).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: ['starting_after'],
      });
    }
  });

  test('an ill-formed account id is not found', async () => {
    expect((await ask('not-a-uuid')).statusCode).toBe(404);
  });

  test('a caller without a name is refused', async () => {
    const url = `/internal/accounts/${newId()}/journals`;
    expect((await ledger.app.inject({ url })).statusCode).toBe(403);
  });
});

async function book(message: Parameters<typeof handle>[1]): Promise<void> {
  await handle(ledger.engine, message);
}

async function list(accountId: string, query = ''): Promise<Page> {
  const response = await ask(accountId, query);
  expect(response.statusCode).toBe(200);
  return response.json<Page>();
}

async function ask(accountId: string, query = '') {
  return await ledger.get(`/internal/accounts/${accountId}/journals${query}`, { accountId: null });
}
