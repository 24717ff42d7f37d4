import type { Acquirer, PayoutToSend } from '@pixmesh/acquirer/acquirer';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import {
  aSend,
  journalOfSend,
  listItems,
  receiveCallbacks,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

import { SETTLE_DELAY_MS } from './decide-send.ts';

/** Deadline of a client that meets a fault without an answer. */
const HASTY_MS = 600;
const END_TO_END_ID = /^E12345678\d{12}[a-zA-Z0-9]{11}$/;

let database: TestDatabase;
let simulator: TestSimulator;
let acquirer: Acquirer;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  await receiveCallbacks(simulator);
});

// One for each test: the breaker of one that meets many faults would keep it from the next one's calls.
beforeEach(() => {
  acquirer = simulator.client();
});

afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

afterEach(async () => {
  await simulator.call('DELETE', '/control/faults');
  await simulator.call('PUT', '/control/profile', { name: 'manual' });
});

async function fault(...rules: object[]): Promise<void> {
  const { status } = await simulator.call('PUT', '/control/faults', { seed: 1, rules });
  expect(status).toBe(200);
}

async function kindsOf(send: PayoutToSend): Promise<string[]> {
  return (await journalOfSend(simulator, send.idEnvio)).map(({ kind }) => kind);
}

async function untilKinds(send: PayoutToSend, kinds: string[]): Promise<void> {
  await eventually(async () => expect(await kindsOf(send)).toEqual(kinds));
}

async function itemsOf(send: PayoutToSend): Promise<Record<string, unknown>[]> {
  const items = await listItems(simulator);
  return items.filter(
    (item) => (item['gnExtras'] as { idEnvio?: string }).idEnvio === send.idEnvio,
  );
}

describe('an order', () => {
  it('is accepted, settles by itself within 200 ms and is announced', async () => {
    const send = aSend({ recipientDocument: '52998224725' });
    const outcome = await acquirer.sendPayout(send);
    if (outcome.kind !== 'accepted') throw new Error(`unexpected ${outcome.kind}`);
    const { endToEndId, requestedAt } = outcome.payout;
    expect(outcome.payout).toEqual({
      idEnvio: send.idEnvio,
      endToEndId: expect.stringMatching(END_TO_END_ID),
      status: 'processing',
      amountCents: 1_000n,
      reason: null,
      requestedAt: expect.any(Date),
      settledAt: null,
      returns: [],
    });
    const settled = await eventually(async () => {
      const found = await acquirer.getPayout(send.idEnvio);
      if (found.kind !== 'found') throw new Error(`unexpected ${found.kind}`);
      expect(found.value.status).toBe('settled');
      return found.value;
    });
    expect(settled).toMatchObject({ endToEndId, requestedAt, reason: null, returns: [] });
    const tookMs = Number(settled.settledAt) - requestedAt.getTime();
    // At most two hundred, with room for a busy machine.
    expect(tookMs).toBeGreaterThanOrEqual(SETTLE_DELAY_MS);
    expect(tookMs).toBeLessThan(2_000);
    const [item] = await eventually(async () => {
      const items = await itemsOf(send);
      expect(items).toHaveLength(1);
      return items;
    });
    expect(item).toEqual({
      endToEndId,
      chave: TEST_ACCOUNT.pixKey,
      tipo: 'SOLICITACAO',
      status: 'REALIZADO',
      valor: '10.00',
      horario: settled.settledAt?.toISOString(),
      gnExtras: { idEnvio: send.idEnvio },
    });
    expect(await journalOfSend(simulator, send.idEnvio)).toMatchObject([
      { kind: 'sent', end_to_end_id: endToEndId, amount: 1_000 },
      { kind: 'settled', end_to_end_id: endToEndId, amount: 1_000 },
    ]);
  });

  it('under a taken idEnvio is a duplicate, which the client calls unknown, and moves nothing', async () => {
    const send = aSend();
    await acquirer.sendPayout(send);
    const again = await acquirer.sendPayout({ ...send, amountCents: 2_000n });
    expect(again).toEqual({ kind: 'unknown', cause: 'duplicate' });
    await untilKinds(send, ['sent', 'settled']);
    expect(await acquirer.getPayout(send.idEnvio)).toMatchObject({
      value: { amountCents: 1_000n },
    });
  });

  it('is made once when many PUTs of an idEnvio race', async () => {
    const send = aSend();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => acquirer.sendPayout(send)));
    expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'unknown')).toHaveLength(19);
    await untilKinds(send, ['sent', 'settled']);
  });

  it('that is not for this account, or worth nothing, is refused and leaves nothing but a line', async () => {
    const foreign = simulator.client({ pixKey: 'somebody@else.example' });
    const [stranger, nothing] = [aSend(), aSend({ amountCents: 0n })];
    expect(await foreign.sendPayout(stranger)).toMatchObject({
      kind: 'refused',
      code: 'chave_invalida',
    });
    expect(await acquirer.sendPayout(nothing)).toMatchObject({
      kind: 'refused',
      code: 'valor_invalido',
    });
    for (const send of [stranger, nothing]) {
      expect(await kindsOf(send)).toEqual(['refused']);
      expect(await acquirer.getPayout(send.idEnvio)).toEqual({ kind: 'not_found' });
    }
  });

  it('that exists is never refused afterwards, only called a duplicate', async () => {
    const send = aSend({ amountCents: 5_000n });
    await acquirer.sendPayout(send);
    await simulator.call('PUT', '/control/profile', { name: 'efi' });
    expect(await acquirer.sendPayout(send)).toEqual({ kind: 'unknown', cause: 'duplicate' });
    expect(await kindsOf(send)).not.toContain('refused');
  });

  it('with a malformed id is refused by its form', async () => {
    expect(await acquirer.sendPayout(aSend({ idEnvio: 'with-hyphens' }))).toMatchObject({
      kind: 'refused',
      code: 'RequisicaoInvalida',
    });
  });
});

describe('faults of sending', () => {
  it.each([
    ['error_before', { status: 503 }, { kind: 'unknown', cause: 'status_503' }],
    ['error_before', { status: 404 }, { kind: 'unknown', cause: 'status_404' }],
    ['hang', {}, { kind: 'unknown', cause: 'timeout' }],
    ['reset', {}, { kind: 'unknown', cause: 'connection' }],
    ['refusal', {}, { kind: 'refused', code: 'pagamento_negado' }],
    [
      'refusal',
      { status: 400, code: 'chave_nao_pertence_ao_documento', message: 'x' },
      { kind: 'refused', code: 'chave_nao_pertence_ao_documento', message: 'x' },
    ],
    ['refusal', { status: 422, code: 'AC03' }, { kind: 'refused', code: 'AC03' }],
    ['refusal', { code: 'a_code_of_next_year' }, { kind: 'unknown', cause: 'status_422' }],
    ['refusal', { status: 401 }, { kind: 'unknown', cause: 'status_401' }],
    ['refusal', { status: 403 }, { kind: 'unknown', cause: 'status_403' }],
    ['refusal', { status: 408 }, { kind: 'unknown', cause: 'status_408' }],
    ['refusal', { status: 409 }, { kind: 'unknown', cause: 'status_409' }],
    ['refusal', { status: 429 }, { kind: 'unknown', cause: 'status_429' }],
  ])('%s %j sends nothing', async (name, more, outcome) => {
    const client = name === 'hang' ? simulator.client({ timeoutMs: HASTY_MS }) : acquirer;
    const send = aSend();
    await fault({ operation: 'sendPayout', fault: name, count: 1, ...more });
    expect(await client.sendPayout(send)).toMatchObject(outcome);
    expect(await acquirer.getPayout(send.idEnvio)).toEqual({ kind: 'not_found' });
    const refused = name === 'refusal' ? ['refused'] : [];
    expect(await kindsOf(send)).toEqual(refused);
    expect(await acquirer.sendPayout(send)).toMatchObject({ kind: 'accepted' });
    await untilKinds(send, [...refused, 'sent', 'settled']);
  });

  it.each([
    ['error_after', {}, 'status_500'],
    ['error_after', { status: 502 }, 'status_502'],
    ['error_after', { status: 422 }, 'status_422'],
    ['garbage', {}, 'unreadable'],
    ['latency', { delay_ms: 60_000 }, 'timeout'],
  ])('%s %j loses the answer to an order that settles', async (name, more, cause) => {
    const client = name === 'latency' ? simulator.client({ timeoutMs: HASTY_MS }) : acquirer;
    const send = aSend();
    await fault({ operation: 'sendPayout', fault: name, count: 1, ...more });
    expect(await client.sendPayout(send)).toEqual({ kind: 'unknown', cause });
    await untilKinds(send, ['sent', 'settled']);
    expect(await acquirer.getPayout(send.idEnvio)).toMatchObject({ value: { status: 'settled' } });
  });

  it('latency lets the notice overtake the answer', async () => {
    const send = aSend();
    await fault({ operation: 'sendPayout', fault: 'latency', delay_ms: 800 });
    const sending = acquirer.sendPayout(send);
    await eventually(async () => expect(await itemsOf(send)).toHaveLength(1));
    expect(await sending).toMatchObject({ kind: 'accepted', payout: { status: 'processing' } });
  });

  it.each(['refusal', 'error_before', 'error_after', 'reset', 'garbage', 'hang'])(
    '%s makes look-up, lists and balance unknown, never "not found"',
    async (name) => {
      const client = name === 'hang' ? simulator.client({ timeoutMs: HASTY_MS }) : acquirer;
      const operations = ['getPayout', 'listSent', 'listReceived', 'balance'];
      await fault(...operations.map((operation) => ({ operation, fault: name })));
      const window = { from: new Date(0), to: new Date(), page: 0 };
      expect(await client.getPayout(aSend().idEnvio)).toMatchObject({ kind: 'unknown' });
      expect(await client.listSent(window)).toMatchObject({ kind: 'unknown' });
      expect(await client.listReceived(window)).toMatchObject({ kind: 'unknown' });
      expect(await client.balance()).toMatchObject({ kind: 'unknown' });
    },
  );
});

describe('faults of settling', () => {
  it('refusal accepts the order and rejects it afterwards, with the words of the rule', async () => {
    const [plain, worded] = [aSend(), aSend()];
    const rule = { operation: 'settlePayout', fault: 'refusal', count: 1 };
    await fault(rule);
    expect(await acquirer.sendPayout(plain)).toMatchObject({ kind: 'accepted' });
    await fault({ ...rule, code: 'AB03', message: 'interrompida' });
    expect(await acquirer.sendPayout(worded)).toMatchObject({ kind: 'accepted' });
    await untilKinds(plain, ['sent', 'rejected']);
    await untilKinds(worded, ['sent', 'rejected']);
    expect(await acquirer.getPayout(plain.idEnvio)).toMatchObject({
      value: { status: 'rejected', settledAt: null, reason: expect.stringMatching(/^AC03: \S/) },
    });
    expect(await acquirer.getPayout(worded.idEnvio)).toMatchObject({
      value: { status: 'rejected', reason: 'AB03: interrompida' },
    });
    await eventually(async () => {
      expect(await itemsOf(worded)).toMatchObject([
        {
          tipo: 'SOLICITACAO',
          status: 'NAO_REALIZADO',
          horario: null,
          gnExtras: {
            erro: { codigo: 'AB03', motivo: 'interrompida', origem: expect.any(String) },
          },
        },
      ]);
    });
  });

  it('latency settles later', async () => {
    const [send, next] = [aSend(), aSend()];
    await fault({ operation: 'settlePayout', fault: 'latency', delay_ms: 1_500, count: 1 });
    await acquirer.sendPayout(send);
    await acquirer.sendPayout(next);
    await untilKinds(next, ['sent', 'settled']);
    expect(await kindsOf(send)).toEqual(['sent']);
    await untilKinds(send, ['sent', 'settled']);
  });

  it('hang keeps an order from settling until the faults are cleared', async () => {
    const [held, next] = [aSend(), aSend()];
    await fault({ operation: 'settlePayout', fault: 'hang', count: 1 });
    await acquirer.sendPayout(held);
    await acquirer.sendPayout(next);
    await untilKinds(next, ['sent', 'settled']);
    await fault({ operation: 'settlePayout', fault: 'hang', count: 1 });
    expect(await acquirer.getPayout(held.idEnvio)).toMatchObject({
      value: { status: 'processing' },
    });
    await simulator.call('DELETE', '/control/faults');
    await untilKinds(held, ['sent', 'settled']);
  });

  it('a repeated PUT uses up no fault of settling', async () => {
    const [first, second] = [aSend(), aSend()];
    await fault({ operation: 'settlePayout', fault: 'refusal', count: 2 });
    await acquirer.sendPayout(first);
    await acquirer.sendPayout(first);
    await acquirer.sendPayout(second);
    await untilKinds(first, ['sent', 'rejected']);
    await untilKinds(second, ['sent', 'rejected']);
  });

  it.each(['error_before', 'garbage', 'reset'])('%s is no fault of settling', async (name) => {
    const rules = [{ operation: 'settlePayout', fault: name }];
    expect(await simulator.call('PUT', '/control/faults', { rules })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: ['rules.0.fault'] },
    });
  });
});

describe('the profile efi', () => {
  it.each([
    [1n, ['sent', 'settled']],
    [1_000n, ['sent', 'settled']],
    [1_001n, ['sent', 'rejected']],
    [2_000n, ['sent', 'rejected']],
    [2_001n, ['refused']],
    [400n, ['sent', 'settled', 'returned', 'returned']],
    [500n, ['sent', 'settled', 'returned']],
  ])('decides by the amount: %s cents end as %j', async (amountCents, kinds) => {
    await simulator.call('PUT', '/control/profile', { name: 'efi' });
    const send = aSend({ amountCents });
    const outcome = await acquirer.sendPayout(send);
    if (kinds[0] === 'refused') {
      expect(outcome).toMatchObject({ kind: 'refused', code: 'pagamento_negado' });
    } else {
      expect(outcome).toMatchObject({ kind: 'accepted' });
    }
    await untilKinds(send, kinds);
    const returned = kinds.filter((kind) => kind === 'returned').length;
    const found = await acquirer.getPayout(send.idEnvio);
    const returns = found.kind === 'found' ? found.value.returns : [];
    expect(returns).toHaveLength(returned);
    expect(returns.reduce((sum, item) => sum + item.amountCents, 0n)).toBe(
      returned === 0 ? 0n : amountCents,
    );
  });

  it('announces each return of its own with those before it', async () => {
    await simulator.call('PUT', '/control/profile', { name: 'efi' });
    const send = aSend({ amountCents: 400n });
    await acquirer.sendPayout(send);
    await eventually(async () => {
      const counts = (await itemsOf(send)).map(({ devolucoes }) =>
        Array.isArray(devolucoes) ? devolucoes.length : 0,
      );
      expect(counts.toSorted()).toEqual([0, 1, 2]);
    });
  });
});
