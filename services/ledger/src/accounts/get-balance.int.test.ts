import { Balance } from '@pixmesh/contracts/http/balance';
import { newId } from '@pixmesh/kernel/ids';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { workConcurrently } from '#test/work-concurrently.ts';
import { aLedgerApp, type LedgerApp } from '#test/ledger-app.ts';
import { aReceivedPixCredit, aReceivedPixSuspend, handle } from '#test/ledger-messages.ts';

/** Reads after which a run that never completes is given up. */
const SNAPSHOTS_MAX = 20_000;

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

describe('GET /v1/balance', () => {
  test('is zero for an account that was never credited', async () => {
    const response = await getBalance(newId());
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      object: 'balance',
      currency: 'BRL',
      available: 0,
      pending: 0,
      total: 0,
      blocked: 0,
    });
  });

  test('shows available, pending and their total, without suspense', async () => {
    const accountId = newId();
    await handle(ledger.engine, aReceivedPixCredit({ accountId, amount: 700 }));
    const releaseAt = new Date(Date.now() + 60_000);
    await handle(ledger.engine, aReceivedPixCredit({ accountId, amount: 50, releaseAt }));
    await handle(ledger.engine, aReceivedPixSuspend({ accountId, amount: 9_999 }));
    const response = await getBalance(accountId);
    expect(Balance.parse(response.json())).toMatchObject({
      available: 700,
      pending: 50,
      total: 750,
      blocked: 0,
    });
  });

  test('shows a credit as soon as it is booked', async () => {
    const accountId = newId();
    for (let booked = 1; booked <= 5; booked += 1) {
      await handle(ledger.engine, aReceivedPixCredit({ accountId, amount: 100 }));
      expect((await getBalance(accountId)).json()).toMatchObject({ available: 100 * booked });
    }
  });

  test("never shows another account's money", async () => {
    const mine = newId();
    const theirs = newId();
    await handle(ledger.engine, aReceivedPixCredit({ accountId: theirs, amount: 700 }));
    expect((await getBalance(mine)).json()).toMatchObject({ available: 0, total: 0 });
    const asked = await ledger.get(`/v1/balance?account_id=${theirs}`, { accountId: mine });
    expect(asked.json()).toMatchObject({ available: 0, total: 0 });
  });

  test('adds up in every snapshot while 200 credits run', async () => {
    const accountId = newId();
    const releaseAt = new Date(Date.now() + 60_000);
    // Available and pending credits alternate: the two parts differ by one credit at most in any snapshot.
    const booking = bookAlternately(accountId, { credits: 200, amount: 10, releaseAt });
    let last = 0;
    let snapshots = 0;
    while (last < 2_000 && snapshots < SNAPSHOTS_MAX) {
      const balance = Balance.parse((await getBalance(accountId)).json());
      expect(balance.total).toBe(balance.available + balance.pending);
      expect(balance.available - balance.pending).toBeOneOf([0, 10]);
      expect(balance.total).toBeGreaterThanOrEqual(last);
      last = balance.total;
      snapshots += 1;
    }
    await booking;
    expect(last).toBe(2_000);
    expect(snapshots).toBeGreaterThan(10);
  });

  test('is complete after 200 credits that ran at the same time', async () => {
    const accountId = newId();
    const credits = Array.from({ length: 200 }, () =>
      aReceivedPixCredit({ accountId, amount: 10 }),
    );
    const reads: number[] = [];
    await workConcurrently(credits, async (credit) => {
      await handle(ledger.engine, credit);
      const { available, total } = Balance.parse((await getBalance(accountId)).json());
      expect(total).toBe(available);
      reads.push(available);
    });
    expect(Math.max(...reads)).toBe(2_000);
    expect(reads.every((available) => available % 10 === 0 && available > 0)).toBe(true);
  });
});

describe('who may ask', () => {
  test('a call without claims is refused', async () => {
    const response = await ledger.app.inject({ url: '/v1/balance' });
    expect(response.statusCode).toBe(403);
    expect(response.json()).toMatchObject({ code: 'CALLER_NOT_ALLOWED' });
  });

  test('the gateway for itself is refused, since a balance belongs to a tenant', async () => {
    const response = await ledger.get('/v1/balance', { accountId: null });
    expect(response.statusCode).toBe(401);
  });

  test('other methods than GET are refused', async () => {
    const response = await ledger.send('POST', '/v1/balance', '');
    expect(response.statusCode).toBe(405);
    expect(response.headers['allow']).toBe('GET');
  });
});

/** Credits one after the other, every second one delayed. */
async function bookAlternately(
  accountId: string,
  run: { credits: number; amount: number; releaseAt: Date },
): Promise<void> {
  for (let index = 0; index < run.credits; index += 1) {
    const releaseAt = index % 2 === 1 ? run.releaseAt : null;
    await handle(ledger.engine, aReceivedPixCredit({ accountId, amount: run.amount, releaseAt }));
  }
}

async function getBalance(accountId: string) {
  return await ledger.get('/v1/balance', { accountId });
}
