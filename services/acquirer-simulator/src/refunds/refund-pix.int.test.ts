import { randomUUID } from 'node:crypto';

import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import {
  aPaidCharge,
  aSend,
  journalOfPix,
  listItems,
  receiveCallbacks,
  startTestSimulator,
  type TestSimulator,
} from '#test/test-simulator.ts';

const RACERS = 32;
const DAY_MS = 86_400_000;

let database: TestDatabase;
let simulator: TestSimulator;
let acquirer: Acquirer;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  await receiveCallbacks(simulator);
});

/** A client per test: the breaker of one that has met faults would keep the next from its call. */
beforeEach(() => {
  acquirer = simulator.client();
});

afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

afterEach(async () => {
  await simulator.call('DELETE', '/control/faults');
});

async function fault(...rules: object[]): Promise<void> {
  const { status } = await simulator.call('PUT', '/control/faults', { seed: 1, rules });
  expect(status).toBe(200);
}

function aRefund(endToEndId: string, amountCents = 1_000n) {
  return { endToEndId, amountCents, refundId: randomUUID().replaceAll('-', '') };
}

async function untilEnded(refund: { endToEndId: string; refundId: string }, status: string) {
  await eventually(async () => {
    const found = await acquirer.getRefund(refund.endToEndId, refund.refundId);
    expect(found).toMatchObject({ kind: 'found', value: { status } });
  });
}

async function balance(): Promise<bigint> {
  const outcome = await acquirer.balance();
  if (outcome.kind !== 'found') throw new Error(`unexpected ${outcome.kind}`);
  return outcome.amountCents;
}

/** Returned money of one Pix, as the journal tells it. */
async function returnedOf(endToEndId: string) {
  const lines = await journalOfPix(simulator, endToEndId);
  return lines.filter(({ kind }) => kind === 'returned');
}

/** Notices of returns of one Pix. */
async function returnItemsOf(endToEndId: string) {
  const items = await listItems(simulator);
  return items.filter((item) => item['endToEndId'] === endToEndId && 'devolucoes' in item);
}

describe('a refund', () => {
  it('is accepted, ends by itself, and is shown wherever its Pix is', async () => {
    const { txid, endToEndId } = await aPaidCharge(simulator);
    const before = await balance();
    const refund = aRefund(endToEndId, 400n);
    expect(await acquirer.refund(refund)).toMatchObject({
      kind: 'accepted',
      refund: { id: refund.refundId, status: 'processing', amountCents: 400n, nature: 'ORIGINAL' },
    });
    await untilEnded(refund, 'returned');
    const found = await acquirer.getRefund(endToEndId, refund.refundId);
    if (found.kind !== 'found') throw new Error('unreachable');
    expect(found.value).toMatchObject({ reason: null, settledAt: expect.any(Date) });
    expect(found.value.returnId).toMatch(/^D12345678\d{12}[a-zA-Z0-9]{11}$/);
    const returns = [found.value];
    expect(await acquirer.getReceived(endToEndId)).toMatchObject({ value: { returns } });
    const charge = await acquirer.getCharge(txid);
    expect(charge).toMatchObject({ value: { status: 'settled', received: [{ returns }] } });
    const now = new Date();
    const window = { from: new Date(now.getTime() - 60_000), to: now, page: 0 };
    const listed = await acquirer.listReceived(window);
    const items = listed.kind === 'page' ? listed.items : [];
    expect(items.find((pix) => pix.endToEndId === endToEndId)).toMatchObject({ returns });
    expect(await balance()).toBe(before - 400n);
    const journal = await returnedOf(endToEndId);
    expect(journal).toMatchObject([{ txid, amount: 400, natureza: 'ORIGINAL', id_envio: null }]);
  });

  it('is announced with its Pix when it has ended, and no word about what it was for', async () => {
    const { txid, endToEndId } = await aPaidCharge(simulator);
    const [first, second] = [aRefund(endToEndId, 300n), aRefund(endToEndId, 700n)];
    await acquirer.refund(first);
    await untilEnded(first, 'returned');
    await acquirer.refund(second);
    await untilEnded(second, 'returned');
    await eventually(async () => expect(await returnItemsOf(endToEndId)).toHaveLength(2));
    const done = { status: 'DEVOLVIDO', horario: { liquidacao: expect.any(String) } };
    const [one, two] = [
      { id: first.refundId, valor: '3.00', ...done },
      { id: second.refundId, valor: '7.00', ...done },
    ];
    const pix = { endToEndId, txid, valor: '10.00' };
    const items = await returnItemsOf(endToEndId);
    expect(items).toMatchObject([
      { ...pix, devolucoes: [one] },
      { ...pix, devolucoes: [one, two] },
    ]);
    expect(JSON.stringify(items)).not.toContain('natureza');
  });

  it('takes an id once within its Pix, whatever is asked the second time', async () => {
    const [{ endToEndId }, other] = [await aPaidCharge(simulator), await aPaidCharge(simulator)];
    const refund = aRefund(endToEndId, 100n);
    await acquirer.refund(refund);
    for (const amountCents of [100n, 200n, 5_000n]) {
      const again = await acquirer.refund({ ...refund, amountCents });
      expect(again).toEqual({ kind: 'unknown', cause: 'duplicate' });
    }
    const elsewhere = await acquirer.refund({ ...refund, endToEndId: other.endToEndId });
    expect(elsewhere).toMatchObject({ kind: 'accepted' });
    await untilEnded(refund, 'returned');
    expect(await returnedOf(endToEndId)).toHaveLength(1);
  });

  it('is refused above what is left, for nothing, and 90 days after the Pix settled', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    const refused = { kind: 'refused', code: 'PixDevolucaoInvalida' };
    expect(await acquirer.refund(aRefund(endToEndId, 1_001n))).toMatchObject(refused);
    expect(await acquirer.refund(aRefund(endToEndId, 0n))).toMatchObject(refused);
    await acquirer.refund(aRefund(endToEndId, 999n));
    expect(await acquirer.refund(aRefund(endToEndId, 2n))).toMatchObject(refused);
    expect(await acquirer.refund(aRefund(endToEndId, 1n))).toMatchObject({ kind: 'accepted' });
    const settledBefore = (days: number) =>
      aPaidCharge(simulator, { paidAt: new Date(Date.now() - days * DAY_MS).toISOString() });
    const [young, old] = [await settledBefore(89.9), await settledBefore(90.1)];
    expect(await acquirer.refund(aRefund(young.endToEndId))).toMatchObject({ kind: 'accepted' });
    expect(await acquirer.refund(aRefund(old.endToEndId))).toMatchObject(refused);
    const lines = await journalOfPix(simulator, old.endToEndId);
    expect(lines.map(({ kind }) => kind)).toEqual(['paid', 'refused']);
  });

  it('knows nothing of other Pix and other ids', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    const nobodys = aRefund(`E12345678202601010000${'n'.repeat(11)}`);
    expect(await acquirer.refund(nobodys)).toMatchObject({
      kind: 'refused',
      code: 'PixNaoEncontrado',
    });
    expect(await acquirer.getRefund(endToEndId, nobodys.refundId)).toEqual({ kind: 'not_found' });
    const unknownPix = await acquirer.getRefund(nobodys.endToEndId, nobodys.refundId);
    expect(unknownPix).toEqual({ kind: 'unknown', cause: 'status_404' });
  });

  it('returns no more than the Pix when many race for it', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    const refunds = Array.from({ length: RACERS }, () => aRefund(endToEndId, 300n));
    const outcomes = await Promise.all(refunds.map((refund) => acquirer.refund(refund)));
    const accepted = refunds.filter((_, index) => outcomes[index]?.kind === 'accepted');
    expect(accepted).toHaveLength(3);
    expect(outcomes.filter(({ kind }) => kind === 'refused')).toHaveLength(RACERS - 3);
    for (const refund of accepted) await untilEnded(refund, 'returned');
    const amounts = (await returnedOf(endToEndId)).map(({ amount }) => amount);
    expect(amounts).toEqual([300, 300, 300]);
  });

  it('is one return when many ask for it under one id', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    const refund = aRefund(endToEndId, 100n);
    const outcomes = await Promise.all(
      Array.from({ length: RACERS }, () => acquirer.refund(refund)),
    );
    expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    await untilEnded(refund, 'returned');
    expect(await returnedOf(endToEndId)).toMatchObject([{ amount: 100 }]);
  });
});

describe('faults of a refund', () => {
  it('refusal lets it fail with a reason, gives its part of the Pix free and is announced', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    const before = await balance();
    await fault({ operation: 'settleRefund', fault: 'refusal', code: 'AC03', count: 1 });
    const refund = aRefund(endToEndId);
    await acquirer.refund(refund);
    await untilEnded(refund, 'failed');
    expect(await acquirer.getRefund(endToEndId, refund.refundId)).toMatchObject({
      value: { reason: 'AC03', settledAt: null },
    });
    await eventually(async () =>
      expect(await returnItemsOf(endToEndId)).toMatchObject([
        { devolucoes: [{ status: 'NAO_REALIZADO', motivo: 'AC03' }] },
      ]),
    );
    expect(await balance()).toBe(before);
    expect(await returnedOf(endToEndId)).toEqual([]);
    const next = aRefund(endToEndId);
    expect(await acquirer.refund(next)).toMatchObject({ kind: 'accepted' });
    await untilEnded(next, 'returned');
  });

  it('a fault is not used up by an order that is repeated or refused', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    const first = aRefund(endToEndId, 100n);
    await acquirer.refund(first);
    await fault({ operation: 'settleRefund', fault: 'refusal', count: 1 });
    await acquirer.refund(first);
    await acquirer.refund(aRefund(endToEndId, 5_000n));
    const next = aRefund(endToEndId, 100n);
    await acquirer.refund(next);
    await untilEnded(next, 'failed');
  });

  it('hang keeps it on its way, its part of the Pix taken, until the script changes', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    await fault({ operation: 'settleRefund', fault: 'hang' });
    const refund = aRefund(endToEndId);
    await acquirer.refund(refund);
    await fault(
      { operation: 'settlePayout', fault: 'hang' },
      { operation: 'settleRefund', fault: 'hang' },
    );
    await untilEnded(refund, 'processing');
    expect(await acquirer.refund(aRefund(endToEndId, 1n))).toMatchObject({ kind: 'refused' });
    await fault({ operation: 'settlePayout', fault: 'hang' });
    await untilEnded(refund, 'returned');
  });

  it('latency lets it end later', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    await fault({ operation: 'settleRefund', fault: 'latency', delay_ms: 400 });
    const refund = aRefund(endToEndId);
    const start = performance.now();
    await acquirer.refund(refund);
    await untilEnded(refund, 'returned');
    expect(performance.now() - start).toBeGreaterThan(400);
  });

  it('an answer that is lost leaves a refund that can be found', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    await fault({ operation: 'refund', fault: 'error_after', count: 1 });
    const refund = aRefund(endToEndId);
    expect(await acquirer.refund(refund)).toMatchObject({ kind: 'unknown' });
    await untilEnded(refund, 'returned');
  });

  it.each(['refusal', 'error_before', 'reset'])('%s leaves none', async (name) => {
    const { endToEndId } = await aPaidCharge(simulator);
    await fault({ operation: 'refund', fault: name, count: 1 });
    const refund = aRefund(endToEndId);
    const outcome = await acquirer.refund(refund);
    expect(outcome.kind).toBe(name === 'refusal' ? 'refused' : 'unknown');
    expect(await acquirer.getRefund(endToEndId, refund.refundId)).toEqual({ kind: 'not_found' });
  });

  it.each(['refusal', 'error_before', 'error_after', 'reset', 'garbage'])(
    '%s makes a look-up unknown, never "not found"',
    async (name) => {
      await fault({ operation: 'getRefund', fault: name });
      expect(await acquirer.getRefund('E1', 'a')).toMatchObject({ kind: 'unknown' });
    },
  );

  it('a refund that hangs goes on after a restart', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    await fault({ operation: 'settleRefund', fault: 'hang' });
    const refund = aRefund(endToEndId);
    await acquirer.refund(refund);
    await using second = await startTestSimulator(database.url);
    await second.call('DELETE', '/control/faults');
    await untilEnded(refund, 'returned');
  });
});

describe('a return that nobody asked for', () => {
  const sendBack = async (endToEndId: string, body?: object) =>
    await simulator.call('POST', `/control/pix/${endToEndId}/returns`, body);

  it('takes all that is left by default, of the nature that is given', async () => {
    const { txid, endToEndId } = await aPaidCharge(simulator);
    const first = await sendBack(endToEndId, { amount: 1, natureza: 'MED_FRAUDE' });
    expect(first).toMatchObject({
      status: 201,
      body: { end_to_end_id: endToEndId, txid, id_envio: null, amount: 1, natureza: 'MED_FRAUDE' },
    });
    const rest = await sendBack(endToEndId);
    expect(rest.body).toMatchObject({ amount: 999, natureza: 'ORIGINAL' });
    expect(await acquirer.getReceived(endToEndId)).toMatchObject({
      value: {
        returns: [
          { id: first.body['id'], status: 'returned', amountCents: 1n, nature: 'MED_FRAUDE' },
          { returnId: rest.body['return_id'], amountCents: 999n, nature: 'ORIGINAL' },
        ],
      },
    });
    await eventually(async () => expect(await returnItemsOf(endToEndId)).toHaveLength(2));
    expect(await sendBack(endToEndId)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  it('never takes more than is left, also against refunds at the same time', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    await Promise.all([
      ...Array.from({ length: RACERS / 2 }, () => sendBack(endToEndId, { amount: 300 })),
      ...Array.from({ length: RACERS / 2 }, () => acquirer.refund(aRefund(endToEndId, 300n))),
    ]);
    await eventually(async () => expect(await returnedOf(endToEndId)).toHaveLength(3));
  });

  it('is not there for Pix and orders that nobody knows', async () => {
    expect(await sendBack('E1')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await sendBack(aSend().idEnvio)).toMatchObject({ status: 404 });
    expect(await sendBack('%00')).toMatchObject({ status: 404 });
  });
});
