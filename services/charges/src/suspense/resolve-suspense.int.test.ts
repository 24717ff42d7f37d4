import { receivedPixCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import type { AccountId } from '@pixmesh/kernel/ids';
import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { eventually } from '@pixmesh/testkit/eventually';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import {
  type ChargesUnderTest,
  type Json,
  startChargesUnderTest,
} from '#test/charges-under-test.ts';
import { createLedgerPeer, ledgerCommands } from '#test/ledger-peer.ts';

let charges: ChargesUnderTest;
let ledger: ReturnType<typeof createLedgerPeer>;

beforeAll(async () => {
  charges = await startChargesUnderTest({ REFUSAL_WAIT_MS: '1000', DISPUTE_LIST_MS: '200' });
  ledger = createLedgerPeer(charges);
});
afterEach(async () => {
  await charges.simulator.control('DELETE', '/control/faults');
});
afterAll(async () => {
  await charges[Symbol.asyncDispose]();
});

const AMOUNT = 700;

type Item = { id: string; endToEndId: string; owner: string | null; chargeId: string | null };

async function simulate(method: string, path: string, body: object): Promise<Json> {
  return await charges.simulator.control(method, path, body);
}

async function suspended(endToEndId: string): Promise<void> {
  await eventually(async () => {
    const commands = await commandsAbout(endToEndId);
    expect(commands.map(({ type }) => type)).toEqual(['received_pix.suspend']);
  });
  await ledger.answerAll();
}

async function anUnownedItem(): Promise<Item> {
  const { end_to_end_id: endToEndId } = await simulate('POST', '/control/pix', { amount: AMOUNT });
  await charges.announceItem({ endToEndId });
  await suspended(endToEndId);
  return { id: receivedPixCommandId(endToEndId), endToEndId, owner: null, chargeId: null };
}

/** A wrong amount for a charge. */
async function anOwnedItem(): Promise<Item> {
  const caller = { ...aCaller(), creation_id: newId() };
  await charges.request(caller, 'POST /v1/charges', {
    amount: 2_000,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
  });
  const chargeId = caller.creation_id;
  const path = `/control/charges/${toAcquirerId(chargeId)}/pay`;
  const { end_to_end_id: endToEndId } = await simulate('POST', path, { amount: AMOUNT });
  await charges.announce(chargeId);
  await suspended(endToEndId);
  return { id: receivedPixCommandId(endToEndId), endToEndId, owner: caller.account_id, chargeId };
}

async function commandsAbout(endToEndId: string): Promise<Json[]> {
  const all = await ledgerCommands(charges.db);
  return all
    .filter(({ message }) => message.data.end_to_end_id === endToEndId)
    .map(({ type, message }) => ({ type, account_id: message.account_id, ...message.data }));
}

async function resolve(item: Item, body: object): Promise<{ status: number; body: Json }> {
  return await charges.request(null, `POST /internal/suspense/${item.id}/resolve`, {
    account_id: null,
    operator_id: newId(),
    item: {
      account_id: item.owner,
      end_to_end_id: item.endToEndId,
      charge_id: item.chargeId,
      amount: AMOUNT,
    },
    ...body,
  });
}

async function statusOf(item: Item): Promise<string[]> {
  await ledger.answerAll();
  const rows = await charges.db.query<{ status: string }>(
    sql`select status from suspense_resolutions where item_id = ${item.id} order by id`,
  );
  return rows.map(({ status }) => status);
}

async function ends(item: Item, statuses: readonly string[]): Promise<void> {
  await eventually(async () => expect(await statusOf(item)).toEqual(statuses));
}

async function resolutionCommands(item: Item): Promise<Json[]> {
  return (await commandsAbout(item.endToEndId)).filter(({ type }) => type.startsWith('suspense.'));
}

async function returnsAtAcquirer(item: Item): Promise<Json[]> {
  const journal = (await charges.simulator.control('GET', '/control/journal?limit=1000')) as Json;
  const entries: Json[] = journal.data ?? journal.entries ?? journal;
  return entries.filter(
    ({ kind, end_to_end_id: of }) => kind === 'returned' && of === item.endToEndId,
  );
}

describe('accept', () => {
  test('is refused while a dispute may take the money back, and possible once it was won', async () => {
    const item = await anOwnedItem();
    const opened = { end_to_end_id: item.endToEndId, reason: 'SCAM' };
    const { id } = await simulate('POST', '/control/disputes', opened);
    await eventually(async () => {
      const kept = await charges.db.query(
        sql`select status from suspended_disputes where end_to_end_id = ${item.endToEndId}`,
      );
      expect(kept).toEqual([{ status: 'open' }]);
    });
    expect(await resolve(item, { action: 'accept' })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', message: expect.stringContaining('disputed') as string },
    });
    expect(await statusOf(item)).toEqual([]);
    await simulate('POST', `/control/disputes/${id}/decide`, { outcome: 'won' });
    await eventually(async () =>
      expect((await resolve(item, { action: 'accept' })).status).toBe(202),
    );
    await ends(item, ['completed']);
  });

  test('is refused while a lost dispute may still take the rest back, whatever went back before', async () => {
    const item = await anUnownedItem();
    await simulate('POST', `/control/pix/${item.endToEndId}/returns`, { amount: 100 });
    await charges.announceItem({ endToEndId: item.endToEndId });
    await eventually(async () => expect(await commandsAbout(item.endToEndId)).toHaveLength(2));
    await ledger.answerAll();
    await simulate('POST', '/control/disputes', {
      end_to_end_id: item.endToEndId,
      reason: 'scam',
      status: 'lost',
      returned_amount: 0,
    });
    await eventually(async () => {
      const kept = await charges.db.query(
        sql`select status from suspended_disputes where end_to_end_id = ${item.endToEndId}`,
      );
      expect(kept).toEqual([{ status: 'accepted' }]);
    });
    const accept = { action: 'accept', account_id: newId() };
    expect(await resolve(item, accept)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    // The acquirer has had its time.
    await charges.db.query(sql`
      update suspended_disputes set noted_at = noted_at - interval '5 days'
      where end_to_end_id = ${item.endToEndId}`);
    expect(await resolve(item, accept)).toMatchObject({
      status: 202,
      body: { amount: AMOUNT - 100 },
    });
    await ends(item, ['completed']);
  });

  test('gives the money to its owner, once, however often it is asked for', async () => {
    const item = await anOwnedItem();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => resolve(item, { action: 'accept' })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers[0]?.body).toMatchObject({
      object: 'suspense_resolution',
      action: 'accept',
      account_id: item.owner,
      amount: AMOUNT,
      status: 'processing',
    });
    await ends(item, ['completed']);
    const commands = await resolutionCommands(item);
    expect(commands).toMatchObject([
      { type: 'suspense.resolve', action: 'accept', account_id: item.owner, item_id: item.id },
    ]);
    expect((await resolve(item, { action: 'accept' })).body.status).toBe('completed');
  });

  test('of an item without an owner credits the account that is named', async () => {
    const item = await anUnownedItem();
    const account = newId<AccountId>();
    expect((await resolve(item, { action: 'accept' })).body.details).toEqual(['account_id']);
    const accepted = await resolve(item, { action: 'accept', account_id: account });
    expect(accepted.body).toMatchObject({ account_id: account, status: 'processing' });
    const inUpperCase = { action: 'accept', account_id: account.toUpperCase() };
    expect(await resolve(item, inUpperCase)).toMatchObject({
      status: 202,
      body: { account_id: account },
    });
    await ends(item, ['completed']);
    const commands = await resolutionCommands(item);
    expect(commands.toSorted((a, b) => (a.type < b.type ? -1 : 1))).toMatchObject([
      { type: 'suspense.credit', account_id: account, amount: AMOUNT },
      { type: 'suspense.resolve', action: 'hand_over', account_id: null },
    ]);
    const another = await resolve(item, { action: 'accept', account_id: newId() });
    expect([another.status, another.body.code]).toEqual([409, 'CONFLICT']);
  });

  test('never gives money to another than its owner, and knows only its own items', async () => {
    const item = await anOwnedItem();
    const foreign = await resolve(item, { action: 'accept', account_id: newId() });
    expect([foreign.status, foreign.body.details]).toEqual([400, ['account_id']]);
    const unknown = await resolve({ ...item, id: newId() }, { action: 'accept' });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'NOT_FOUND']);
    expect(await resolutionCommands(item)).toEqual([]);
    const tenant = await charges.request(
      aCaller(),
      `POST /internal/suspense/${item.id}/resolve`,
      {},
    );
    expect(tenant.status).toBe(401);
  });
});

describe('return', () => {
  test('sends the money back once, and completes when the ledger has booked it', async () => {
    const item = await anOwnedItem();
    const answers = await Promise.all([1, 2, 3].map(() => resolve(item, { action: 'return' })));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    await ends(item, ['completed']);
    expect(await returnsAtAcquirer(item)).toMatchObject([{ amount: AMOUNT }]);
    expect(await resolutionCommands(item)).toMatchObject([
      { type: 'suspense.resolve', action: 'return', account_id: item.owner },
    ]);
    const late = await resolve(item, { action: 'accept' });
    expect([late.status, late.body.code]).toEqual([409, 'CONFLICT']);
  });

  test.each([
    ['its call is lost', { operation: 'refund', fault: 'error_before', status: 500, count: 3 }],
    ['its answer is lost', { operation: 'refund', fault: 'error_after', status: 500, count: 2 }],
    ['look-ups fail', { operation: 'getRefund', fault: 'error_before', status: 503, count: 3 }],
  ])('happens once although %s', async (_name, rule) => {
    await charges.simulator.control('PUT', '/control/faults', { seed: 1, rules: [rule] });
    const item = await anUnownedItem();
    await resolve(item, { action: 'return' });
    await ends(item, ['completed']);
    expect(await returnsAtAcquirer(item)).toHaveLength(1);
    expect(await resolutionCommands(item)).toMatchObject([
      { action: 'return', account_id: null, amount: AMOUNT },
    ]);
  });

  test('that the acquirer does not carry out leaves the item open for another one', async () => {
    const item = await anOwnedItem();
    await charges.simulator.control('PUT', '/control/faults', {
      seed: 1,
      rules: [{ operation: 'settleRefund', fault: 'refusal', count: 1 }],
    });
    await resolve(item, { action: 'return' });
    await ends(item, ['failed']);
    expect(await resolutionCommands(item)).toEqual([]);
    await resolve(item, { action: 'accept' });
    await ends(item, ['failed', 'completed']);
  });

  test('made at the acquirer by itself ends the item, and nothing is accepted after it', async () => {
    const item = await anOwnedItem();
    await simulate('POST', `/control/pix/${item.endToEndId}/returns`, { natureza: 'ORIGINAL' });
    await charges.announceItem({ endToEndId: item.endToEndId });
    await ends(item, ['completed']);
    expect(await resolutionCommands(item)).toMatchObject([{ action: 'return' }]);
    expect((await resolve(item, { action: 'accept' })).status).toBe(409);
    expect((await resolve(item, { action: 'return' })).body.status).toBe('completed');
  });

  test('made there after the money was given to its owner is recorded unbooked', async () => {
    const item = await anOwnedItem();
    await resolve(item, { action: 'accept' });
    await ends(item, ['completed']);
    await simulate('POST', `/control/pix/${item.endToEndId}/returns`, { natureza: 'ORIGINAL' });
    await charges.announceItem({ endToEndId: item.endToEndId });
    await eventually(async () => {
      expect(
        await charges.db.query(
          sql`select disposition from pix_returns where end_to_end_id = ${item.endToEndId}`,
        ),
      ).toEqual([{ disposition: 'unbooked' }]);
    });
    expect(await resolutionCommands(item)).toHaveLength(1);
  });
});

/** Somebody sends a part back at the acquirer, and a callback tells. */
async function partReturned(item: Item, amount: number): Promise<void> {
  const returns = `/control/pix/${item.endToEndId}/returns`;
  await simulate('POST', returns, { amount, natureza: 'ORIGINAL' });
  const before = (await resolutionCommands(item)).length;
  await charges.announceItem({ endToEndId: item.endToEndId });
  await eventually(async () => expect(await resolutionCommands(item)).toHaveLength(before + 1));
}

describe.each([
  ['owned', anOwnedItem],
  ['unowned', anUnownedItem],
])('an %s item of which a part went back', (_name, anItem) => {
  test('is accepted for exactly what is left', async () => {
    const item = await anItem();
    await partReturned(item, 300);
    await partReturned(item, 1);
    const account_id = item.owner ?? newId();
    const accepted = await resolve(item, { action: 'accept', account_id });
    expect([accepted.status, accepted.body.amount]).toEqual([202, 399]);
    await ends(item, ['completed']);
    const commands = await resolutionCommands(item);
    expect(commands.map(({ action, amount }) => [action ?? 'credit', amount])).toEqual(
      expect.arrayContaining([
        ['return', 300],
        ['return', 1],
        [item.owner === null ? 'hand_over' : 'accept', 399],
      ]),
    );
    const credits = commands.filter(({ type }) => type === 'suspense.credit');
    expect(credits.map(({ amount }) => amount)).toEqual(item.owner === null ? [399] : []);
    expect(new Set(commands.map(({ command_id: id }) => id)).size).toBe(commands.length);
  });

  test('is sent back for exactly what is left', async () => {
    const item = await anItem();
    await partReturned(item, 300);
    const answer = await resolve(item, { action: 'return' });
    expect([answer.status, answer.body.amount]).toEqual([202, 400]);
    await ends(item, ['completed']);
    expect((await returnsAtAcquirer(item)).map(({ amount }) => amount)).toEqual([300, 400]);
    const commands = await resolutionCommands(item);
    expect(commands.map(({ action, amount }) => [action, amount])).toEqual([
      ['return', 300],
      ['return', 400],
    ]);
    expect(await dispositionsOf(item)).toEqual(['suspense_part', 'suspense_part']);
  });

  test('ends with whatever sends the last cent back, and is not resolved any more', async () => {
    const item = await anItem();
    await partReturned(item, 300);
    expect(await statusOf(item)).toEqual([]);
    await partReturned(item, 400);
    await ends(item, ['completed']);
    expect(
      (await resolve(item, { action: 'accept', account_id: item.owner ?? newId() })).status,
    ).toBe(409);
    const repeated = await resolve(item, { action: 'return' });
    expect([repeated.status, repeated.body.status]).toEqual([202, 'completed']);
    expect(await returnsAtAcquirer(item)).toHaveLength(2);
  });
});

test('a return that a part overtook fails at the acquirer, and what is left can be sent back', async () => {
  const item = await anOwnedItem();
  await charges.simulator.control('PUT', '/control/faults', {
    seed: 1,
    rules: [{ operation: 'refund', fault: 'error_before', status: 500, count: 1 }],
  });
  const first = resolve(item, { action: 'return' });
  await partReturned(item, 300);
  expect((await first).body.amount).toBe(AMOUNT);
  await ends(item, ['failed']);
  expect((await resolve(item, { action: 'return' })).body.amount).toBe(400);
  await ends(item, ['failed', 'completed']);
  expect((await returnsAtAcquirer(item)).map(({ amount }) => amount)).toEqual([300, 400]);
});

test('decisions that race with parts never give away more than is left', async () => {
  const item = await anOwnedItem();
  const returns = `/control/pix/${item.endToEndId}/returns`;
  await simulate('POST', returns, { amount: 300, natureza: 'ORIGINAL' });
  await Promise.all([
    charges.announceItem({ endToEndId: item.endToEndId }),
    resolve(item, { action: 'accept' }),
  ]);
  await ends(item, ['completed']);
  await eventually(async () => expect(await dispositionsOf(item)).toHaveLength(1));
  const commands = await resolutionCommands(item);
  const sum = commands.reduce((total, { amount }) => total + amount, 0);
  expect(sum).toBe(AMOUNT);
  const isFirst = commands.length === 2;
  expect(await dispositionsOf(item)).toEqual([isFirst ? 'suspense_part' : 'unbooked']);
});

async function dispositionsOf({ endToEndId }: Item): Promise<string[]> {
  const rows = await charges.db.query<{ disposition: string }>(
    sql`select disposition from pix_returns where end_to_end_id = ${endToEndId}`,
  );
  return rows.map(({ disposition }) => disposition);
}

test('no message of it all was refused', async () => {
  expect(await charges.db.query(sql`select code, reason from dead_letters`)).toEqual([]);
});
