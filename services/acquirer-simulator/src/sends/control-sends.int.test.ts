import type { Acquirer, AcquirerPayout, PayoutToSend } from '@pixmesh/acquirer/acquirer';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import {
  aCharge,
  aSend,
  journalOfSend,
  listItems,
  receiveCallbacks,
  startTestSimulator,
  type TestSimulator,
} from '#test/test-simulator.ts';

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
  await simulator.call('DELETE', '/control/faults');
  await simulator.call('PUT', '/control/balance-adjustment', { amount: 0 });
});

async function post(path: string, body?: object) {
  return await simulator.call('POST', path, body);
}

/** An order that does not settle by itself. */
async function sendHeld(change: Partial<PayoutToSend> = {}): Promise<AcquirerPayout> {
  const rules = [{ operation: 'settlePayout', fault: 'hang' }];
  await simulator.call('PUT', '/control/faults', { rules });
  const outcome = await acquirer.sendPayout(aSend(change));
  if (outcome.kind !== 'accepted') throw new Error(`unexpected ${outcome.kind}`);
  return outcome.payout;
}

async function sendSettled(change: Partial<PayoutToSend> = {}): Promise<AcquirerPayout> {
  const payout = await sendHeld(change);
  expect((await post(`/control/sends/${payout.idEnvio}/settle`)).status).toBe(200);
  return await found(payout);
}

async function found({ idEnvio }: AcquirerPayout): Promise<AcquirerPayout> {
  const lookup = await acquirer.getPayout(idEnvio ?? '');
  if (lookup.kind !== 'found') throw new Error(`unexpected ${lookup.kind}`);
  return lookup.value;
}

async function kindsOf({ idEnvio }: AcquirerPayout): Promise<string[]> {
  return (await journalOfSend(simulator, idEnvio ?? '')).map(({ kind }) => kind);
}

async function announcedOf({ endToEndId }: AcquirerPayout): Promise<Record<string, unknown>[]> {
  const items = await listItems(simulator);
  return items.filter((item) => item['endToEndId'] === endToEndId);
}

async function balance(): Promise<bigint> {
  const outcome = await acquirer.balance();
  if (outcome.kind !== 'found') throw new Error(`unexpected ${outcome.kind}`);
  return outcome.amountCents;
}

describe('an order by hand', () => {
  it('settles when it is told to, under the id with hyphens too, and once', async () => {
    const payout = await sendHeld();
    const id = payout.idEnvio?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    for (let times = 1; times <= 2; times += 1) {
      expect(await post(`/control/sends/${id}/settle`)).toEqual({
        status: 200,
        body: {
          id_envio: payout.idEnvio,
          end_to_end_id: payout.endToEndId,
          amount: 1_000,
          status: 'REALIZADO',
        },
      });
    }
    expect(await kindsOf(payout)).toEqual(['sent', 'settled']);
    await eventually(async () => {
      expect(await announcedOf(payout)).toMatchObject([{ status: 'REALIZADO' }]);
    });
  });

  it('is rejected with the words that are given', async () => {
    const payout = await sendHeld();
    await post(`/control/sends/${payout.idEnvio}/reject`, { code: 'AM04', message: 'sem saldo' });
    expect(await found(payout)).toMatchObject({ status: 'rejected', reason: 'AM04: sem saldo' });
    expect(await kindsOf(payout)).toEqual(['sent', 'rejected']);
  });

  it('ends once when settlement and rejection race', async () => {
    for (let round = 0; round < 5; round += 1) {
      const payout = await sendHeld();
      const answers = await Promise.all([
        post(`/control/sends/${payout.idEnvio}/settle`),
        post(`/control/sends/${payout.idEnvio}/reject`),
      ]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
      expect(await kindsOf(payout)).toHaveLength(2);
    }
  });

  it('that was rejected shows itself as completed once it is contradicted', async () => {
    const payout = await sendHeld();
    const path = `/control/sends/${payout.idEnvio}`;
    expect((await post(`${path}/contradict`, { status: 'REALIZADO' })).status).toBe(409);
    await post(`${path}/reject`);
    expect((await post(`${path}/settle`)).status).toBe(409);
    expect(await post(`${path}/contradict`, { status: 'REALIZADO' })).toMatchObject({
      status: 200,
      body: { status: 'REALIZADO' },
    });
    expect(await found(payout)).toMatchObject({ status: 'settled', reason: null });
    expect(await kindsOf(payout)).toEqual(['sent', 'rejected', 'settled']);
    await eventually(async () => {
      const statuses = (await announcedOf(payout)).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual(['NAO_REALIZADO', 'REALIZADO']);
    });
  });

  it('that has settled can be contradicted too, with a reason', async () => {
    const payout = await sendSettled();
    const body = { status: 'NAO_REALIZADO', code: 'ED05' };
    await post(`/control/sends/${payout.idEnvio}/contradict`, body);
    expect(await found(payout)).toMatchObject({ status: 'rejected', reason: 'ED05: ED05' });
    expect(await kindsOf(payout)).toEqual(['sent', 'settled', 'rejected']);
  });

  it('that is unknown is not found', async () => {
    for (const id of ['unknown', 'x'.repeat(65), '%00']) {
      for (const act of ['settle', 'reject']) {
        expect(await post(`/control/sends/${id}/${act}`)).toMatchObject({
          status: 404,
          body: { code: 'NOT_FOUND' },
        });
      }
      expect((await post(`/control/pix/${id}/returns`)).status).toBe(404);
    }
  });

  it.each([{}, { status: 'EM_PROCESSAMENTO' }, { status: 'settled' }])(
    'is not contradicted by %j',
    async (body) => {
      const { idEnvio } = await sendSettled();
      expect(await post(`/control/sends/${idEnvio}/contradict`, body)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR', details: ['status'] },
      });
    },
  );
});

describe('a return of an order', () => {
  it('is shown, announced and written down, and leaves the rest for another', async () => {
    const payout = await sendSettled();
    const path = `/control/pix/${payout.endToEndId}/returns`;
    const first = await post(path, { amount: 300, natureza: 'MED_FRAUDE' });
    expect(first).toMatchObject({
      status: 201,
      body: {
        return_id: expect.stringMatching(/^D12345678\d{12}[a-zA-Z0-9]{11}$/),
        end_to_end_id: payout.endToEndId,
        id_envio: payout.idEnvio,
        amount: 300,
        natureza: 'MED_FRAUDE',
      },
    });
    expect(await post(path)).toMatchObject({ status: 201, body: { amount: 700 } });
    const { returns, status } = await found(payout);
    expect(status).toBe('settled');
    expect(returns).toMatchObject([
      { returnId: first.body['return_id'], amountCents: 300n, nature: 'MED_FRAUDE' },
      { amountCents: 700n, nature: 'ORIGINAL', status: 'returned' },
    ]);
    expect(await journalOfSend(simulator, payout.idEnvio ?? '')).toMatchObject([
      { kind: 'sent' },
      { kind: 'settled', amount: 1_000, natureza: null },
      { kind: 'returned', amount: 300, natureza: 'MED_FRAUDE' },
      { kind: 'returned', amount: 700, natureza: 'ORIGINAL' },
    ]);
    await eventually(async () => {
      const items = await announcedOf(payout);
      const returned = items.filter((item) => Array.isArray(item['devolucoes']));
      expect(returned).toHaveLength(2);
      expect(returned[0]).toMatchObject({
        tipo: 'SOLICITACAO',
        gnExtras: { idEnvio: payout.idEnvio },
        devolucoes: [{ rtrId: first.body['return_id'], valor: '3.00', status: 'DEVOLVIDO' }],
      });
    });
  });

  it('is never more than is left, even when many race', async () => {
    const payout = await sendSettled();
    const path = `/control/pix/${payout.endToEndId}/returns`;
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(path, { amount: 400 })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(4);
    await post(path);
    expect(await post(path)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    const sum = (await found(payout)).returns.reduce((all, item) => all + item.amountCents, 0n);
    expect(sum).toBe(1_000n);
  });

  it('needs an order that has settled', async () => {
    const payout = await sendHeld();
    const path = `/control/pix/${payout.endToEndId}/returns`;
    expect((await post(path)).status).toBe(409);
    await post(`/control/sends/${payout.idEnvio}/reject`);
    expect((await post(path)).status).toBe(409);
  });

  it.each([
    ['amount', { amount: 0 }],
    ['amount', { amount: '1.00' }],
    ['natureza', { natureza: 'med fraude' }],
  ])('names %s in %j as wrong', async (name, body) => {
    const { endToEndId } = await sendSettled();
    expect(await post(`/control/pix/${endToEndId}/returns`, body)).toMatchObject({
      status: 400,
      body: { details: [name] },
    });
  });
});

describe('the balance', () => {
  it('follows the money: received, sent, rejected, returned, and below zero', async () => {
    const start = await balance();
    const charge = aCharge({ amountCents: 2_500n });
    await acquirer.issueCharge(charge);
    await post(`/control/charges/${charge.txid}/pay`);
    expect((await balance()) - start).toBe(2_500n);
    const payout = await sendHeld({ amountCents: 700n });
    expect((await balance()) - start).toBe(1_800n);
    await post(`/control/sends/${payout.idEnvio}/reject`);
    expect((await balance()) - start).toBe(2_500n);
    await post(`/control/sends/${payout.idEnvio}/contradict`, { status: 'REALIZADO' });
    expect((await balance()) - start).toBe(1_800n);
    await post(`/control/pix/${payout.endToEndId}/returns`, { amount: 200 });
    expect((await balance()) - start).toBe(2_000n);
    await sendSettled({ amountCents: 100_000_000n });
    expect(await balance()).toBeLessThan(0n);
  });

  it('shows a difference that nothing explains, until it is taken back', async () => {
    const start = await balance();
    const put = (amount: unknown) =>
      simulator.call('PUT', '/control/balance-adjustment', { amount });
    expect(await put(-123)).toEqual({
      status: 200,
      body: { amount: -123, balance: Number(start) - 123 },
    });
    expect((await balance()) - start).toBe(-123n);
    await put(55);
    expect((await balance()) - start).toBe(55n);
    await put(0);
    expect(await balance()).toBe(start);
    expect((await put('1')).status).toBe(400);
    const { body } = await simulator.call('GET', '/control/journal?limit=100000');
    const lines = (body['data'] as { kind: string; amount: number }[]).filter(
      ({ kind }) => kind === 'adjusted',
    );
    expect(lines.map(({ amount }) => amount)).toEqual(expect.arrayContaining([-123, 55, 0]));
  });
});

describe('an order of nobody', () => {
  it('is settled, listed and in the balance, and announced to nobody', async () => {
    const start = await balance();
    const requested_at = '2021-03-04T05:06:07.000Z';
    const { status, body } = await post('/control/sends', { amount: 321, requested_at });
    expect(status).toBe(201);
    expect(body).toEqual({
      id_envio: null,
      end_to_end_id: expect.stringMatching(/^E12345678202103040506/),
      amount: 321,
      status: 'REALIZADO',
    });
    const at = new Date(requested_at);
    expect(await acquirer.listSent({ from: at, to: at, page: 0 })).toMatchObject({
      kind: 'page',
      items: [{ idEnvio: null, endToEndId: body['end_to_end_id'], status: 'settled' }],
      hasMore: false,
    });
    expect((await balance()) - start).toBe(-321n);
    expect(await announcedOf({ endToEndId: body['end_to_end_id'] } as AcquirerPayout)).toEqual([]);
  });

  it('takes an idEnvio for ever, so that ours is a duplicate', async () => {
    const { idEnvio } = aSend();
    const body = { amount: 5_000, id_envio: idEnvio };
    expect((await post('/control/sends', body)).status).toBe(201);
    expect((await post('/control/sends', body)).status).toBe(409);
    const outcome = await acquirer.sendPayout(aSend({ idEnvio }));
    expect(outcome).toEqual({ kind: 'unknown', cause: 'duplicate' });
    expect(await acquirer.getPayout(idEnvio)).toMatchObject({ value: { amountCents: 5_000n } });
    const lines = await journalOfSend(simulator, idEnvio);
    expect(lines.map(({ kind }) => kind)).toEqual(['sent', 'settled']);
  });

  it.each([
    ['amount', {}],
    ['amount', { amount: -1 }],
    ['id_envio', { amount: 1, id_envio: 'with-hyphen' }],
    ['requested_at', { amount: 1, requested_at: 'now' }],
  ])('names %s in %j as wrong', async (name, body) => {
    expect(await post('/control/sends', body)).toMatchObject({
      status: 400,
      body: { details: [name] },
    });
  });
});
