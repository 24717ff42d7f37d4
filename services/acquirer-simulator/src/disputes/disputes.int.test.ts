import { randomUUID } from 'node:crypto';

import type { Acquirer, AcquirerDispute } from '@pixmesh/acquirer/acquirer';
import { DEFENSE_LENGTH_MAX } from '@pixmesh/kernel/text';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import {
  aPaidCharge,
  journalOfPix,
  listItems,
  receiveCallbacks,
  startTestSimulator,
  type TestSimulator,
} from '#test/test-simulator.ts';

const RACERS = 32;
const DAY_SECONDS = 86_400;

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
  await simulator.call('POST', '/control/clock', { reset: true });
});

/** A paid charge of R$ 10.00 and a dispute about it. */
async function aDispute(terms: object = {}) {
  const { txid, endToEndId } = await aPaidCharge(simulator);
  const opened = await open(endToEndId, terms);
  expect(opened.status).toBe(201);
  return { txid, endToEndId, id: opened.body['id'] as string, body: opened.body };
}

async function open(endToEndId: string, terms: object = {}) {
  const body = { end_to_end_id: endToEndId, ...terms };
  return await simulator.call('POST', '/control/disputes', body);
}

async function decide(id: string, body: object) {
  return await simulator.call('POST', `/control/disputes/${id}/decide`, body);
}

async function withdraw(id: string) {
  return await simulator.call('POST', `/control/disputes/${id}/withdraw`);
}

async function listAround(now = Date.now()): Promise<AcquirerDispute[]> {
  const [from, to] = [new Date(now - 600_000), new Date(now + 600_000)];
  const page = await acquirer.listDisputes({ from, to, page: 0 });
  if (page.kind !== 'page') throw new Error(`unexpected ${page.cause}`);
  return page.items;
}

async function listed(id: string): Promise<AcquirerDispute | undefined> {
  return (await listAround()).find((dispute) => dispute.id === id);
}

async function kindsOf(endToEndId: string) {
  const lines = await journalOfPix(simulator, endToEndId);
  return lines.map(({ kind, amount, natureza }) => [kind, amount, natureza]);
}

/** What went back of one Pix, and why. */
async function returnsOf(endToEndId: string) {
  const found = await acquirer.getReceived(endToEndId);
  if (found.kind !== 'found') throw new Error(`unexpected ${found.kind}`);
  return found.value.returns.map(({ amountCents, nature }) => [amountCents, nature]);
}

/** Through the provider's own API, with what is blocked. */
async function blocked(): Promise<string> {
  const token = await simulator.token();
  const answer = await fetch(`${simulator.url}/v2/gn/saldo?bloqueios=true`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { bloqueios } = (await answer.json()) as { bloqueios: { med: string; total: string } };
  expect(bloqueios.total).toBe(bloqueios.med);
  return bloqueios.med;
}

function refundOf(endToEndId: string, amountCents: bigint) {
  return { endToEndId, amountCents, refundId: randomUUID().replaceAll('-', '') };
}

describe('a dispute', () => {
  it('is listed as the client reads it, blocks its money, and is announced to nobody', async () => {
    const before = await blocked();
    const { endToEndId, id, body } = await aDispute({ amount: 700, reason: 'account_takeover' });
    expect(body).toMatchObject({
      end_to_end_id: endToEndId,
      amount: 700,
      reason: 'ACCOUNT_TAKEOVER',
      status: 'ABERTA',
      returned_amount: 0,
      decided_at: null,
    });
    const openedAt = new Date(body['opened_at'] as string);
    expect(await listed(id)).toEqual({
      id,
      endToEndId,
      amountCents: 700n,
      status: 'open',
      reason: 'aquisição da conta',
      openedAt,
      deadlineAt: new Date(openedAt.getTime() + 3 * DAY_SECONDS * 1_000),
      defenseReceivedAt: null,
      decidedAt: null,
    });
    expect([before, await blocked()]).toEqual(['0.00', '7.00']);
    expect(await kindsOf(endToEndId)).toEqual([
      ['paid', 1_000, null],
      ['dispute_opened', 700, null],
    ]);
    await decide(id, { outcome: 'won' });
    expect(await blocked()).toBe('0.00');
    const items = (await listItems(simulator)).filter((item) => item['endToEndId'] === endToEndId);
    expect(items.filter((item) => 'devolucoes' in item)).toEqual([]);
  });

  it('that is lost gives back all that is disputed, once, and the return is announced', async () => {
    const { endToEndId, id } = await aDispute({ amount: 700 });
    const lost = await decide(id, { outcome: 'lost' });
    expect(lost).toMatchObject({ status: 200, body: { status: 'ACEITA', returned_amount: 700 } });
    expect((await decide(id, { outcome: 'lost' })).body).toEqual(lost.body);
    expect(await listed(id)).toMatchObject({ status: 'accepted', decidedAt: expect.any(Date) });
    expect(await returnsOf(endToEndId)).toEqual([[700n, 'MED_FRAUDE']]);
    expect(await kindsOf(endToEndId)).toEqual([
      ['paid', 1_000, null],
      ['dispute_opened', 700, null],
      ['dispute_decided', 700, 'MED_FRAUDE'],
      ['returned', 700, 'MED_FRAUDE'],
    ]);
    await eventually(async () => {
      const items = await listItems(simulator);
      const own = items.filter((item) => item['endToEndId'] === endToEndId);
      expect(own.at(-1)).toMatchObject({ devolucoes: [{ valor: '7.00', status: 'DEVOLVIDO' }] });
    });
  });

  it.each([
    ['of an operational flaw', { reason: 'operational_flaw' }, {}, [[1_000n, 'MED_OPERACIONAL']]],
    ['in part', {}, { returned_amount: 1 }, [[1n, 'MED_FRAUDE']]],
    ['without any return', {}, { returned_amount: 0 }, []],
    ['with more asked than disputed', { amount: 5 }, { returned_amount: 9 }, [[5n, 'MED_FRAUDE']]],
    ['as a plain return', {}, { natureza: 'ORIGINAL' }, [[1_000n, 'ORIGINAL']]],
  ])('can be lost %s', async (_, terms, outcome, returns) => {
    const { endToEndId, id } = await aDispute(terms);
    const sum = returns.reduce((all, [amount]) => all + Number(amount), 0);
    const decided = await decide(id, { outcome: 'lost', ...outcome });
    expect(decided.body).toMatchObject({ status: 'ACEITA', returned_amount: sum });
    expect(await returnsOf(endToEndId)).toEqual(returns);
  });

  it('that is won can still be lost, but what is lost or withdrawn stays so', async () => {
    const { endToEndId, id } = await aDispute();
    expect((await decide(id, { outcome: 'won' })).body['status']).toBe('REJEITADA');
    expect(await withdraw(id)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect((await decide(id, { outcome: 'lost' })).body['status']).toBe('ACEITA');
    expect((await decide(id, { outcome: 'won' })).status).toBe(409);
    expect(await kindsOf(endToEndId)).toEqual([
      ['paid', 1_000, null],
      ['dispute_opened', 1_000, null],
      ['dispute_decided', 1_000, null],
      ['dispute_decided', 1_000, 'MED_FRAUDE'],
      ['returned', 1_000, 'MED_FRAUDE'],
    ]);
    const other = await aDispute();
    const withdrawn = await withdraw(other.id);
    expect(withdrawn.body).toMatchObject({ status: 'CANCELADA_EFI', returned_amount: 0 });
    expect((await withdraw(other.id)).body).toEqual(withdrawn.body);
    expect((await decide(other.id, { outcome: 'lost' })).status).toBe(409);
    expect(await listed(other.id)).toMatchObject({ status: 'canceled' });
  });

  it.each([
    ['lost', 'accepted', [[1_000n, 'MED_FRAUDE']]],
    ['won', 'rejected', []],
  ])('can arrive %s, and was never seen open', async (status, seen, returns) => {
    const { endToEndId, id, body } = await aDispute({ status });
    expect(body['decided_at']).toBe(body['opened_at']);
    expect(await listed(id)).toMatchObject({ status: seen });
    expect(await returnsOf(endToEndId)).toEqual(returns);
  });

  it('can arrive lost without a return, which comes later', async () => {
    const { endToEndId } = await aDispute({ status: 'lost', returned_amount: 0 });
    expect(await returnsOf(endToEndId)).toEqual([]);
    await simulator.call('POST', `/control/pix/${endToEndId}/returns`, { natureza: 'ORIGINAL' });
    expect(await returnsOf(endToEndId)).toEqual([[1_000n, 'ORIGINAL']]);
  });

  it('is one at a time for a Pix, and another is possible after it', async () => {
    const { endToEndId, id } = await aDispute();
    expect(await open(endToEndId)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    await withdraw(id);
    const raced = await Promise.all(Array.from({ length: RACERS }, () => open(endToEndId)));
    const second = raced.find(({ status }) => status === 201);
    expect(raced.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(raced.filter(({ status }) => status === 409)).toHaveLength(RACERS - 1);
    await decide(second?.body['id'] as string, { outcome: 'won' });
    expect((await open(endToEndId)).status).toBe(201);
  });

  it('gives back no more than is left of the Pix, and blocks no more', async () => {
    const { endToEndId, id } = await aDispute();
    await acquirer.refund(refundOf(endToEndId, 600n));
    expect(await blocked()).not.toBe('0.00');
    expect((await decide(id, { outcome: 'lost' })).body['returned_amount']).toBe(400);
    expect(await acquirer.refund(refundOf(endToEndId, 1n))).toMatchObject({ kind: 'refused' });
    const next = await open(endToEndId, { status: 'lost' });
    expect(next.body).toMatchObject({ status: 'ACEITA', returned_amount: 0 });
  });

  it('shares a Pix exactly with refunds that race with its decision', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { endToEndId, id } = await aDispute();
      const [, ...refunds] = await Promise.all([
        decide(id, { outcome: 'lost' }),
        ...Array.from({ length: 8 }, () => acquirer.refund(refundOf(endToEndId, 300n))),
      ]);
      const accepted = refunds.filter(({ kind }) => kind === 'accepted').length;
      const returned = (await returnsOf(endToEndId)).map(([amount]) => amount as bigint);
      expect(returned.reduce((sum, amount) => sum + amount, 0n)).toBe(1_000n);
      expect(returned.filter((amount) => amount === 300n)).toHaveLength(accepted);
    }
  });

  it('names what is wrong about it', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    const faulty = [
      [{ amount: 0 }, 'amount'],
      [{ reason: 'a scam' }, 'reason'],
      [{ status: 'ACEITA' }, 'status'],
    ] as const;
    for (const [terms, name] of faulty) {
      expect(await open(endToEndId, terms)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR', details: [name] },
      });
    }
    expect((await open(endToEndId, { amount: 1_001 })).status).toBe(409);
    expect((await open('E1')).status).toBe(404);
    expect((await decide(randomUUID(), { outcome: 'won' })).status).toBe(404);
    expect((await decide('nobody', { outcome: 'won' })).status).toBe(404);
    expect((await withdraw(randomUUID())).status).toBe(404);
  });
});

describe('a defense', () => {
  it('brings a dispute under review, and repeating it changes nothing', async () => {
    const { id } = await aDispute();
    const defense = { disputeId: id, text: 'The goods were delivered.' };
    expect(await acquirer.submitDefense(defense)).toEqual({ kind: 'accepted' });
    const defended = await listed(id);
    expect(defended).toMatchObject({ status: 'under_review', defenseReceivedAt: expect.any(Date) });
    expect(await acquirer.submitDefense(defense)).toEqual({ kind: 'unknown', cause: 'status_409' });
    expect(await listed(id)).toEqual(defended);
    expect((await decide(id, { outcome: 'lost' })).body['status']).toBe('ACEITA');
  });

  it('is refused once decided or withdrawn, and unknown for a foreign id', async () => {
    const [decided, withdrawn] = [await aDispute({ status: 'won' }), await aDispute()];
    await withdraw(withdrawn.id);
    for (const { id } of [decided, withdrawn]) {
      expect(await acquirer.submitDefense({ disputeId: id, text: 'x' })).toMatchObject({
        kind: 'refused',
        code: 'InfracaoOperacaoInvalida',
      });
    }
    for (const disputeId of [randomUUID(), 'nobody']) {
      expect(await acquirer.submitDefense({ disputeId, text: 'x' })).toEqual({ kind: 'not_found' });
    }
  });

  it('may be as long as an operator can send it, and no longer', async () => {
    const { id } = await aDispute();
    const text = '😀'.repeat(DEFENSE_LENGTH_MAX);
    expect(await acquirer.submitDefense({ disputeId: id, text: `${text}.` })).toMatchObject({
      kind: 'refused',
      code: 'InfracoesConsultaInvalida',
    });
    expect(await acquirer.submitDefense({ disputeId: id, text })).toEqual({ kind: 'accepted' });
  });

  it('is refused after the deadline, when the dispute is under review by itself', async () => {
    const { id } = await aDispute();
    const now = Date.now();
    const advance = async (advance_seconds: number) =>
      await simulator.call('POST', '/control/clock', { advance_seconds });
    await advance(3 * DAY_SECONDS - 60);
    const find = async () => (await listAround(now)).find((dispute) => dispute.id === id);
    expect(await find()).toMatchObject({ status: 'open' });
    await advance(61);
    await eventually(async () => expect(await find()).toMatchObject({ status: 'under_review' }));
    expect(await find()).toMatchObject({ defenseReceivedAt: null });
    expect(await acquirer.submitDefense({ disputeId: id, text: 'x' })).toMatchObject({
      kind: 'refused',
      code: 'InfracaoOperacaoInvalida',
    });
  });
});

describe('the list of disputes', () => {
  it('holds what was opened in a window, both ends included, page by page', async () => {
    const times = [
      '2020-02-01T00:00:00.000Z',
      '2020-02-01T00:00:01.000Z',
      '2020-02-01T00:00:02.000Z',
    ];
    const ids: string[] = [];
    for (const opened_at of times) ids.push((await aDispute({ opened_at })).id);
    const [from, to] = [new Date(times[0] ?? ''), new Date(times[1] ?? '')];
    const page = await acquirer.listDisputes({ from, to, page: 0 });
    expect(page).toMatchObject({ kind: 'page', items: [{ id: ids[0] }, { id: ids[1] }] });
    expect(page).toMatchObject({ hasMore: false });
    const token = await simulator.token();
    const query = `inicio=${times[0]}&fim=${times[1]}&paginacao.itensPorPagina=1`;
    const answer = await fetch(
      `${simulator.url}/v2/gn/infracoes?${query}&paginacao.paginaAtual=1`,
      {
        headers: { authorization: `Bearer ${token}` },
      },
    );
    expect(await answer.json()).toMatchObject({
      parametros: { paginacao: { quantidadeDePaginas: 2, quantidadeTotalDeItens: 2 } },
      infracoes: [
        {
          idInfracao: ids[1],
          protocolo: expect.stringMatching(/^\d+$/),
          valor: '10.00',
          razao: 'Solicitacao de devolução',
          tipoSituacao: 'golpe',
          dadosAnalise: { abertura: times[1], recebimentoDefesa: null, finalizacao: null },
        },
      ],
    });
  });

  it.each(['listDisputes', 'submitDefense'])('obeys faults of %s', async (operation) => {
    await simulator.call('PUT', '/control/faults', {
      rules: [{ operation, fault: 'error_before', status: 503 }],
    });
    const outcome =
      operation === 'listDisputes'
        ? await acquirer.listDisputes({ from: new Date(0), to: new Date(1), page: 0 })
        : await acquirer.submitDefense({ disputeId: randomUUID(), text: 'x' });
    expect(outcome).toEqual({ kind: 'unknown', cause: 'status_503' });
  });
});
