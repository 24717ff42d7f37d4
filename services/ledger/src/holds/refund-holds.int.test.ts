import assert from 'node:assert';

import { newId } from '@pixmesh/kernel/ids';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { auditBooks } from '#test/audit-books.sql.ts';
import { countAllRows, readBalances } from '#test/read-ledger.ts';
import { aLedgerApp, type LedgerApp } from '#test/ledger-app.ts';
import {
  aReceivedPixCredit,
  anEndToEndId,
  aHoldRelease,
  aHoldSettle,
  handle,
  type HoldRef,
} from '#test/ledger-messages.ts';

/** `PUT /internal/holds/{id}` of a refund. */
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let ledger: LedgerApp;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  ledger = await aLedgerApp(database.db);
});
afterEach(async () => {
  assert.deepEqual(await auditBooks(database.db), []);
});
afterAll(async () => {
  await ledger.app.close();
  await ledger.engine.stop();
  await database[Symbol.asyncDispose]();
});

type Wanted = HoldRef & { kind: string; amount: number; fee: number; endToEndId?: string };

async function refundOf(amount: number, received = 1_000) {
  const accountId = newId();
  const credit = aReceivedPixCredit({ accountId, amount: received });
  await handle(ledger.engine, credit);
  const endToEndId = credit.data.end_to_end_id;
  return aHold({ accountId, kind: 'refund', amount, endToEndId });
}

test('is bounded by its Pix, whatever else stands in the balance', async () => {
  const hold = await refundOf(600);
  const { accountId, endToEndId } = hold;
  await handle(ledger.engine, aReceivedPixCredit({ accountId, amount: 5_000 }));
  expect(await outcomeOf(hold)).toMatchObject({ outcome: 'held', reason: null, state: 'open' });
  const over = { ...aHold({ accountId, kind: 'refund', amount: 401 }), endToEndId: endToEndId! };
  expect(await outcomeOf(over)).toMatchObject({ outcome: 'refused', reason: 'exceeds_received' });
  await handle(ledger.engine, aHoldRelease(hold));
  // A refusal is for ever; a fresh hold may succeed.
  expect(await outcomeOf(over)).toMatchObject({ reason: 'exceeds_received' });
  expect(await outcomeOf({ ...over, holdId: newId() })).toMatchObject({ outcome: 'held' });
});

test('is refused where the account has no such Pix, or no money', async () => {
  const hold = await refundOf(600);
  const theirs = { ...hold, holdId: newId(), accountId: await funded(5_000) };
  expect(await outcomeOf(theirs)).toMatchObject({ outcome: 'refused', reason: 'unknown_pix' });
  const unknown = { ...hold, holdId: newId(), endToEndId: anEndToEndId() };
  expect(await outcomeOf(unknown)).toMatchObject({ reason: 'unknown_pix' });
  await take(aHold({ accountId: hold.accountId, amount: 401 }));
  expect(await outcomeOf(hold)).toMatchObject({ reason: 'insufficient_balance' });
});

test('a repeat is answered the same; with another Pix it is a conflict', async () => {
  const hold = await refundOf(600);
  const first = await take(hold);
  const rows = await countAllRows(database.db);
  expect((await take(hold)).json()).toEqual(first.json());
  expect((await take({ ...hold, endToEndId: anEndToEndId() })).statusCode).toBe(409);
  expect(await countAllRows(database.db)).toEqual(rows);
});

test('settles without a fee, and is listed as what it is', async () => {
  const hold = await refundOf(600);
  await take(hold);
  await handle(ledger.engine, aHoldSettle(hold));
  expect(await readBalances(database.db, hold.accountId)).toEqual({
    available: 400,
    acquirer_clearing: -400,
  });
  const answer = await ledger.get(`/internal/holds/${hold.holdId}`, { accountId: null });
  expect(answer.json()).toMatchObject({ kind: 'refund', state: 'settled', amount: 600, fee: 0 });
});

test('a void that comes first defeats it', async () => {
  const hold = await refundOf(600);
  expect(await voidOutcomeOf(hold)).toMatchObject({ outcome: 'voided' });
  expect(await outcomeOf(hold)).toMatchObject({ outcome: 'refused', reason: 'voided' });
});

test.each<[string, Partial<Wanted>, string[]]>([
  ['a refund without its Pix', { kind: 'refund' }, ['end_to_end_id']],
  ['a refund of an empty Pix', { kind: 'refund', endToEndId: '' }, ['end_to_end_id']],
  ['a Pix that cannot be stored', { kind: 'refund', endToEndId: 'E\u0000' }, ['end_to_end_id']],
  ['a refund with a fee', { kind: 'refund', endToEndId: 'E1', fee: 1 }, ['fee']],
  ['a payout with a Pix', { endToEndId: 'E1' }, ['end_to_end_id']],
])('%s is refused', async (_name, changes, details) => {
  const rows = await countAllRows(database.db);
  const answer = await take(aHold({ accountId: newId(), ...changes }));
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ code: 'VALIDATION_ERROR', details });
  expect(await countAllRows(database.db)).toEqual(rows);
});

function aHold(changes: Partial<Wanted> & { accountId: string }): Wanted {
  const ids = { holdId: newId(), resourceId: newId() };
  return { ...ids, kind: 'payout', amount: 1_000, fee: 0, ...changes };
}

async function funded(cents: number): Promise<string> {
  const accountId = newId();
  await handle(ledger.engine, aReceivedPixCredit({ accountId, amount: cents }));
  return accountId;
}

async function take({ holdId, accountId, resourceId, endToEndId, ...money }: Wanted) {
  const pix = endToEndId === undefined ? {} : { end_to_end_id: endToEndId };
  const body = { account_id: accountId, resource_id: resourceId, ...money, ...pix };
  return await ledger.send('PUT', `/internal/holds/${holdId}`, body);
}

async function outcomeOf(hold: Wanted): Promise<{ outcome: string }> {
  return (await take(hold)).json<{ outcome: string }>();
}

async function voidOutcomeOf(hold: HoldRef): Promise<{ outcome: string }> {
  const { accountId: account_id, resourceId: resource_id } = hold;
  const path = `/internal/holds/${hold.holdId}/void`;
  const answer = await ledger.send('POST', path, { account_id, resource_id });
  return answer.json<{ outcome: string }>();
}
