import { randomUUID } from 'node:crypto';

import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import {
  aCharge,
  aPaidCharge,
  journalOfPix,
  listItems,
  receiveCallbacks,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

const OTHER_KEY = 'somebody@else.example';

let database: TestDatabase;
let simulator: TestSimulator;
let acquirer: Acquirer;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  acquirer = simulator.client();
  await receiveCallbacks(simulator);
});

afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

afterEach(async () => {
  await simulator.call('PUT', '/control/tariff', { amount: 0 });
});

async function receive(body: object) {
  return await simulator.call('POST', '/control/pix', body);
}

async function balance(): Promise<bigint> {
  const outcome = await acquirer.balance();
  if (outcome.kind !== 'found') throw new Error(`unexpected ${outcome.kind}`);
  return outcome.amountCents;
}

async function untilItems(endToEndId: string, count: number) {
  const own = async () =>
    (await listItems(simulator)).filter((item) => item['endToEndId'] === endToEndId);
  await eventually(async () => expect(await own()).toHaveLength(count));
  return await own();
}

describe('a Pix that names no charge', () => {
  it.each([
    ['without a txid', null],
    ['with a txid that nobody issued', 'unknown0000000000000000000001'],
  ])('%s is money of the account, announced and shown', async (_, txid) => {
    const before = await balance();
    const received = await receive({ amount: 700, ...(txid !== null && { txid }) });
    expect(received).toMatchObject({
      status: 201,
      body: { txid, chave: TEST_ACCOUNT.pixKey, amount: 700, repeated: false },
    });
    const endToEndId = received.body['end_to_end_id'] as string;
    expect(await acquirer.getReceived(endToEndId)).toMatchObject({
      value: { txid, pixKey: TEST_ACCOUNT.pixKey, amountCents: 700n, tariffCents: null },
    });
    const [item] = await untilItems(endToEndId, 1);
    expect(item).toMatchObject({ valor: '7.00', chave: TEST_ACCOUNT.pixKey });
    expect(item?.['txid']).toBe(txid ?? undefined);
    expect(await balance()).toBe(before + 700n);
    const journal = await journalOfPix(simulator, endToEndId);
    expect(journal).toMatchObject([{ kind: 'paid', txid, amount: 700 }]);
    const refund = { endToEndId, refundId: 'r1', amountCents: 700n };
    expect(await acquirer.refund(refund)).toMatchObject({ kind: 'accepted' });
    await eventually(async () => {
      const ended = await acquirer.getRefund(endToEndId, refund.refundId);
      expect(ended).toMatchObject({ value: { status: 'returned' } });
    });
    expect(
      (await simulator.call('POST', '/control/disputes', { end_to_end_id: endToEndId })).status,
    ).toBe(201);
  });

  it('is one Pix per end-to-end id, which is announced again, also at once', async () => {
    const end_to_end_id = `E12345678202603040506${'y'.repeat(11)}`;
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => receive({ amount: 700, end_to_end_id })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    const again = await receive({ amount: 700, end_to_end_id, times: 2 });
    expect(again).toMatchObject({ status: 200, body: { repeated: true, notices: 2 } });
    expect(await receive({ amount: 1, end_to_end_id, txid: 'other' })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    });
    expect(await journalOfPix(simulator, end_to_end_id)).toHaveLength(1);
  });

  it('pays the charge that it turns out to name', async () => {
    const charge = aCharge();
    await acquirer.issueCharge(charge);
    const { body } = await receive({ amount: 1, txid: charge.txid });
    expect(await acquirer.getCharge(charge.txid)).toMatchObject({
      value: {
        status: 'settled',
        received: [{ endToEndId: body['end_to_end_id'], amountCents: 1n }],
      },
    });
  });

  it('does not show in a notice of its arrival what has gone back since', async () => {
    const { endToEndId, txid } = await aPaidCharge(simulator);
    await simulator.call('POST', `/control/pix/${endToEndId}/returns`);
    await simulator.call('POST', `/control/charges/${txid}/pay`, { end_to_end_id: endToEndId });
    const items = await untilItems(endToEndId, 3);
    expect(items.map((item) => 'devolucoes' in item).sort()).toEqual([false, false, true]);
  });

  it.each([
    ['amount', {}],
    ['amount', { amount: 0 }],
    ['txid', { amount: 1, txid: 'with-hyphen' }],
    ['chave', { amount: 1, chave: '' }],
    ['paid_at', { amount: 1, paid_at: 'now' }],
  ])('names %s in %j as wrong', async (name, body) => {
    expect(await receive(body)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [name] },
    });
  });
});

describe("a Pix to somebody else's key", () => {
  it('is announced and shown with that key, and is no money of the account', async () => {
    const charge = aCharge();
    await acquirer.issueCharge(charge);
    await simulator.call('PUT', '/control/tariff', { amount: 10 });
    const before = await balance();
    const { body } = await receive({ amount: 1_000, txid: charge.txid, chave: OTHER_KEY });
    const endToEndId = body['end_to_end_id'] as string;
    const [item] = await untilItems(endToEndId, 1);
    expect(item).toMatchObject({ txid: charge.txid, chave: OTHER_KEY });
    expect(await acquirer.getReceived(endToEndId)).toMatchObject({
      value: { pixKey: OTHER_KEY, tariffCents: null },
    });
    expect(await acquirer.getCharge(charge.txid)).toMatchObject({
      value: { status: 'active', received: [] },
    });
    expect(await balance()).toBe(before);
    expect(await journalOfPix(simulator, endToEndId)).toEqual([]);
    const refund = { endToEndId, refundId: randomUUID().replaceAll('-', ''), amountCents: 1n };
    expect(await acquirer.refund(refund)).toMatchObject({ code: 'PixNaoEncontrado' });
    for (const path of [`/control/pix/${endToEndId}/returns`, '/control/disputes']) {
      const answer = await simulator.call('POST', path, { end_to_end_id: endToEndId });
      expect(answer.status).toBe(404);
    }
  });
});

describe('the tariff', () => {
  it('is taken from every Pix that arrives while it is set, and shown with it', async () => {
    const before = await balance();
    expect(await simulator.call('PUT', '/control/tariff', { amount: 12 })).toEqual({
      status: 200,
      body: { amount: 12 },
    });
    const paid = await aPaidCharge(simulator);
    const { body } = await receive({ amount: 500 });
    await simulator.call('PUT', '/control/tariff', { amount: 0 });
    const free = await aPaidCharge(simulator);
    const tariffOf = async (endToEndId: string) => {
      const found = await acquirer.getReceived(endToEndId);
      return found.kind === 'found' ? found.value.tariffCents : undefined;
    };
    expect(await tariffOf(paid.endToEndId)).toBe(12n);
    expect(await tariffOf(body['end_to_end_id'] as string)).toBe(12n);
    expect(await tariffOf(free.endToEndId)).toBeNull();
    expect(await acquirer.getCharge(paid.txid)).toMatchObject({
      value: { received: [{ tariffCents: 12n }] },
    });
    const [item] = await untilItems(paid.endToEndId, 1);
    expect(item).toMatchObject({ valor: '10.00', gnExtras: { tarifa: '0.12' } });
    expect(await balance()).toBe(before + 2_500n - 24n);
  });

  it('is never negative', async () => {
    expect(await simulator.call('PUT', '/control/tariff', { amount: -1 })).toMatchObject({
      status: 400,
      body: { details: ['amount'] },
    });
  });
});
