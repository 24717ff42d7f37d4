import assert from 'node:assert';

import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { republishOutcome } from '#engine/republish-outcome.sql.ts';
import { auditBooks } from '#test/audit-books.sql.ts';
import { countAllRows, readBalances } from '#test/read-ledger.ts';
import { workConcurrently } from '#test/work-concurrently.ts';
import { holdTake } from '#test/ledger-commands.ts';
import { again, aHoldRelease, aHoldSettle, handle } from '#test/ledger-messages.ts';
import { aLedgerUnderTest, type LedgerUnderTest, queuedEvents } from '#test/ledger-under-test.ts';

/** Ends of holds as they come from their topic, through the service's own consumer. */
let ledger: LedgerUnderTest;

beforeAll(async () => {
  ledger = await aLedgerUnderTest();
});
afterEach(async () => {
  assert.deepEqual(await auditBooks(ledger.db), []);
});
afterAll(() => ledger[Symbol.asyncDispose]());

test('a settlement is told with amount, fee and the balance after it', async () => {
  const hold = await anOpenHold({ amount: 900, fee: 30 });
  await handle(ledger.engine, aHoldSettle(hold));
  const event = (await queuedEvents(ledger.db, hold.accountId)).at(-1);
  expect(event).toMatchObject({
    type: 'hold.settled',
    message: {
      account_id: hold.accountId,
      data: {
        hold_id: hold.holdId,
        resource_id: hold.resourceId,
        amount: 900,
        fee: 30,
        balance: { available: 4_070, pending: 0 },
      },
    },
  });
  expect(await readBalances(ledger.db, hold.accountId)).toEqual({
    available: 4_070,
    acquirer_clearing: -4_100,
    fees: 30,
  });
});

test('a release is told with the balance that has everything back', async () => {
  const hold = await anOpenHold({ amount: 900, fee: 30 });
  await handle(ledger.engine, aHoldRelease(hold));
  const event = (await queuedEvents(ledger.db, hold.accountId)).at(-1);
  expect(event).toMatchObject({
    type: 'hold.released',
    message: { data: { amount: 900, fee: 30, balance: { available: 5_000 } } },
  });
});

test('a repeat of an end publishes nothing more', async () => {
  const hold = await anOpenHold({ amount: 900 });
  const message = aHoldSettle(hold);
  await handle(ledger.engine, message);
  const rows = await countAllRows(ledger.db);
  await handle(ledger.engine, again(message));
  expect(await countAllRows(ledger.db)).toEqual(rows);
});

test.each([
  ['settled', 'released'],
  ['released', 'settled'],
] as const)(
  'a hold that was %s cannot be %s: it is told so, and again where that was lost',
  async (state, wanted) => {
    const hold = await anOpenHold({ amount: 900 });
    const [first, second] =
      state === 'settled'
        ? [aHoldSettle(hold), aHoldRelease(hold)]
        : [aHoldRelease(hold), aHoldSettle(hold)];
    await handle(ledger.engine, first);
    const balances = await readBalances(ledger.db, hold.accountId);
    await handle(ledger.engine, second);
    const refusal = (await queuedEvents(ledger.db, hold.accountId)).at(-1);
    expect(refusal).toMatchObject({
      type: 'hold.end_refused',
      message: { data: { wanted, state, hold_id: hold.holdId, amount: 900 } },
    });
    expect(await readBalances(ledger.db, hold.accountId)).toEqual(balances);
    await ledger.db.query(sql`delete from outbox`);
    expect(await republishOutcome(ledger.db, second.data.command_id)).toBe(true);
    expect(await queuedEvents(ledger.db, hold.accountId)).toEqual([refusal]);
  },
);

test('settle and release raced end a hold exactly once', async () => {
  const holds = [];
  for (let count = 0; count < 40; count += 1) holds.push(await anOpenHold({ amount: 10 }));
  const messages = holds.flatMap((hold, at) =>
    at % 2 === 0
      ? [aHoldSettle(hold), aHoldRelease(hold)]
      : [aHoldRelease(hold), aHoldSettle(hold)],
  );
  await workConcurrently([...messages, ...messages.map(again)], (message) =>
    handle(ledger.engine, message),
  );
  for (const hold of holds) {
    const types = (await queuedEvents(ledger.db, hold.accountId)).map(({ type }) => type);
    expect(types.slice(1).toSorted()).toBeOneOf([
      ['hold.end_refused', 'hold.released'],
      ['hold.end_refused', 'hold.settled'],
    ]);
  }
});

test('a settlement of a hold that nobody took is wrong in itself', async () => {
  const unknown = { accountId: newId(), holdId: newId(), resourceId: newId() };
  const rows = await countAllRows(ledger.db);
  await expect(handle(ledger.engine, aHoldSettle(unknown))).rejects.toMatchObject({
    code: 'MESSAGE_INVALID',
    message: expect.stringContaining('was never taken'),
  });
  expect(await countAllRows(ledger.db)).toEqual(rows);
});

async function anOpenHold(money: { amount: number; fee?: number }) {
  const hold = holdTake({ accountId: await ledger.fund(5_000), ...money });
  await ledger.submit(hold);
  return hold;
}
