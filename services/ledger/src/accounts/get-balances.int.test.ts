import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { aLedgerApp, type LedgerApp } from '#test/ledger-app.ts';
import {
  receivedPixCredit,
  holdSettle,
  receivedPixSuspend,
  holdTake,
} from '#test/ledger-commands.ts';

import { ACCOUNT_KINDS } from './chart-of-accounts.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let ledger: LedgerApp;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  // Figures about a few hundred rows would change the plan that one test looks at.
  await using admin = createPool({ url: database.adminUrl, applicationName: 'test', max: 1 });
  await admin.query(sql`alter table ledger.entries set (autovacuum_enabled = false)`);
  ledger = await aLedgerApp(database.db);
});
afterAll(async () => {
  await ledger.app.close();
  await ledger.engine.stop();
  await database[Symbol.asyncDispose]();
});

const NOTHING = Object.fromEntries(ACCOUNT_KINDS.map((kind) => [kind, 0]));

describe('GET /internal/accounts/{id}/balances', () => {
  test('shows every part and the number of the journal after which it stood so', async () => {
    const accountId = newId<AccountId>();
    const hold = holdTake({ accountId, amount: 300, fee: 5 });
    const paid = holdTake({ accountId, amount: 100, fee: 5 });
    const commands = [
      receivedPixCredit({ accountId, amount: 1_000 }),
      receivedPixCredit({ accountId, amount: 70, releaseAt: new Date(Date.now() + 60_000) }),
      receivedPixSuspend({ accountId, amount: 9 }),
      hold,
      paid,
      holdSettle(paid),
    ];
    for (const command of commands) await ledger.engine.submit(command);
    expect(await balancesOf(accountId)).toEqual({
      object: 'balances',
      account_id: accountId,
      currency: 'BRL',
      available: 590,
      pending: 70,
      held: 305,
      blocked: 0,
      suspense: 9,
      acquirer_clearing: -979,
      fees: 5,
      acquirer_tariffs: 0,
      version: 6,
    });
  });

  test('is zero and numbered zero for an account that never moved', async () => {
    const accountId = newId();
    expect(await balancesOf(accountId)).toMatchObject({ ...NOTHING, version: 0 });
    expect(await balancesOf(accountId, '?at=2026-01-01')).toMatchObject({ ...NOTHING, version: 0 });
  });

  test.each(['at=yesterday', 'at=2026-02-30', 'at=2026-01-01T00:00:00'])(
    '%s is no instant',
    async (query) => {
      const answer = await ledger.get(`/internal/accounts/${newId()}/balances?${query}`, {
        accountId: null,
      });
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toMatchObject({ code: 'VALIDATION_ERROR', details: ['at'] });
    },
  );

  test('an ill-formed account is not found; nobody asks without a name', async () => {
    const answer = await ledger.get('/internal/accounts/x/balances', { accountId: null });
    expect(answer.statusCode).toBe(404);
    const url = `/internal/accounts/${newId()}/balances`;
    expect((await ledger.app.inject({ url })).statusCode).toBe(403);
  });
});

describe('a balance in the past', () => {
  test('stands as it stood after each journal, for every one of them', async () => {
    const accountId = newId<AccountId>();
    const stood: { at: string; balances: object }[] = [];
    for (let step = 0; step < 12; step += 1) {
      const hold = holdTake({ accountId, amount: 7, fee: 1 });
      await ledger.engine.submit(receivedPixCredit({ accountId, amount: 100 + step }));
      await ledger.engine.submit(hold);
      if (step % 3 === 0) await ledger.engine.submit(holdSettle(hold));
      stood.push({ at: await newestTime(accountId), balances: await balancesOf(accountId) });
      // Instants are told in milliseconds: the next journal must have one of its own.
      await untilAfter(stood.at(-1)!.at);
    }
    for (const { at, balances } of stood) {
      expect(await balancesOf(accountId, `?at=${at}`)).toEqual(balances);
    }
    const first = new Date(new Date(stood[0]!.at).getTime() - 60_000).toISOString();
    expect(await balancesOf(accountId, `?at=${first}`)).toMatchObject({ ...NOTHING, version: 0 });
    const later = new Date(Date.now() + 60_000).toISOString();
    expect(await balancesOf(accountId, `?at=${later}`)).toEqual(stood.at(-1)!.balances);
  });

  test('does not change when the clock steps back: times never fall as journals go on', async () => {
    const accountId = newId<AccountId>();
    await ledger.engine.submit(receivedPixCredit({ accountId, amount: 5 }));
    const ahead = new Date(Date.now() + 3_600_000);
    await moveLast(accountId, ahead);
    await ledger.engine.submit(receivedPixCredit({ accountId, amount: 6 }));
    expect(await newestTime(accountId)).toBe(ahead.toISOString());
    // The totals hold it, and are never of an earlier time.
    const totals = await ledger.get('/internal/totals', { accountId: null });
    expect(totals.json()).toMatchObject({ read_at: ahead.toISOString() });
    await moveLast(accountId, new Date());
    expect(await balancesOf(accountId, `?at=${new Date().toISOString()}`)).toMatchObject({
      available: 5,
      version: 1,
    });
  });

  test('is read by index, however long the history', async () => {
    const rows = await database.db.transaction(async (tx) => {
      await tx.query(sql`select set_config('enable_seqscan', 'on', true)`);
      return await tx.query<{ 'QUERY PLAN': string }>(sql`
        explain select balance_after from entries
        where account_id = ${newId()}::uuid and kind = 'available' and version <= 5
        order by version desc limit 1`);
    });
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('entries_pkey');
    expect(plan).not.toContain('Sort');
  });
});

test('GET /internal/totals sums all owners, and nets to zero', async () => {
  await ledger.engine.submit(receivedPixCredit({ amount: 50 }));
  const answer = await ledger.get('/internal/totals', { accountId: null });
  const { read_at, ...totals } = answer.json<Record<string, number> & { read_at: string }>();
  expect(Object.keys(totals)).toEqual([...ACCOUNT_KINDS]);
  expect(Object.values(totals).reduce((sum, cents) => sum + cents, 0)).toBe(0);
  expect(totals['available']).toBeGreaterThan(0);
  const booked = receivedPixCredit({ amount: 50 });
  await ledger.engine.submit(booked);
  expect(read_at <= (await newestTime(booked.accountId))).toBe(true);
  const next = (await ledger.get('/internal/totals', { accountId: null })).json<{
    read_at: string;
  }>();
  expect(next.read_at >= (await newestTime(booked.accountId))).toBe(true);
});

async function balancesOf(accountId: string, query = ''): Promise<object> {
  const url = `/internal/accounts/${accountId}/balances${query}`;
  const answer = await ledger.get(url, { accountId: null });
  expect(answer.statusCode).toBe(200);
  return answer.json<object>();
}

async function moveLast(accountId: string, at: Date): Promise<void> {
  await database.db.query(sql`
    update accounts set moved_at = ${at} where account_id = ${accountId}`);
}

async function newestTime(accountId: string): Promise<string> {
  const [row] = await database.db.query<{ at: Date }>(sql`
    select max(created_at) as at from journals where account_id = ${accountId}`);
  return row!.at.toISOString();
}

/** Waits on the database's own clock, which the journals follow. */
async function untilAfter(at: string): Promise<void> {
  await database.db.query(sql`
    select pg_sleep(greatest(0, extract(epoch from ${at}::timestamptz - clock_timestamp()) + 0.002))`);
}
