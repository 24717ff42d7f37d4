import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Acquirer } from './acquirer.ts';
import { ANSWER_BYTES_MAX } from './exchange.ts';
import {
  apiPix,
  efi,
  hostileAnswers,
  json,
  startTestProvider,
  type TestProvider,
} from './testing/test-provider.ts';

const TIMEOUT_MS = 5_000;
/** Deadline of a client whose answer never comes. */
const HASTY_MS = 400;

const REFUND_ID = '0f4ab1c7e0b84c0aa8a1c6a6c2f0d111';
const END_TO_END_ID = 'E12345678202611211304abcdef12345';
const TO_SEND = { endToEndId: END_TO_END_ID, refundId: REFUND_ID, amountCents: 789n };
const ACCEPTED = {
  id: REFUND_ID,
  rtrId: 'D12345678202611211304abcde123456',
  valor: '7.89',
  natureza: 'ORIGINAL',
  horario: { solicitacao: '2026-11-21T13:04:05.678Z' },
  status: 'EM_PROCESSAMENTO',
};
const READ = {
  id: REFUND_ID,
  returnId: ACCEPTED.rtrId,
  amountCents: 789n,
  status: 'processing',
  nature: 'ORIGINAL',
  reason: null,
  settledAt: null,
};
const PATH = `/v2/pix/${END_TO_END_ID}/devolucao/${REFUND_ID}`;

let provider: TestProvider;
let acquirer: Acquirer;

beforeEach(async () => {
  provider = await startTestProvider();
  acquirer = provider.connect(TIMEOUT_MS);
});

afterEach(async () => {
  await acquirer[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

function clientFor(cause: string): Acquirer {
  return provider.connect(cause === 'timeout' ? HASTY_MS : TIMEOUT_MS);
}

const BROKEN: [string, object][] = [
  ['another id', { id: 'x'.repeat(32) }],
  ['no id', { id: undefined }],
  ['an amount that is a number', { valor: 7.89 }],
  ['an amount in another form', { valor: '7,89' }],
  ['no status', { status: undefined }],
  ['an endless id of the settlement system', { rtrId: 'D'.repeat(65) }],
  ['a nature that cannot be stored', { natureza: 'MED\u0000' }],
  ['a settlement date that is none', { horario: { liquidacao: 'soon' } }],
];

describe('ordering a return', () => {
  beforeEach(() => {
    provider.answerCall = (_, response) => json(response, 201, ACCEPTED);
  });

  it('orders it under its own id', async () => {
    expect(await acquirer.refund(TO_SEND)).toEqual({ kind: 'accepted', refund: READ });
    expect(provider.calls).toHaveLength(1);
    expect(provider.calls[0]).toMatchObject({ method: 'PUT', url: PATH });
    expect(JSON.parse(provider.calls[0]?.body ?? '')).toEqual({ valor: '7.89' });
  });

  it.each([
    [400, 'PixDevolucaoInvalida', apiPix],
    [400, 'RequisicaoInvalida', apiPix],
    [404, 'PixNaoEncontrado', apiPix],
    [400, 'valor_invalido', efi],
    [400, 'pix_nao_encontrado', efi],
    [422, 'valor_invalido', efi],
  ] as const)('passes the words of a definite refusal on: %i %s', async (status, code, answer) => {
    provider.answerCall = (_, response) => answer(response, status, code);
    expect(await acquirer.refund(TO_SEND)).toEqual({ kind: 'refused', code, message: 'Problema' });
  });

  it('calls a duplicate unknown, since the return may be in any of its states', async () => {
    provider.answerCall = (_, response) => efi(response, 409, 'devolucao_id_duplicado');
    expect(await acquirer.refund(TO_SEND)).toEqual({ kind: 'unknown', cause: 'duplicate' });
  });

  it.each([
    [400, 'devolucao_id_duplicado', 'duplicate'],
    [400, 'a_code_of_next_year', 'status_400'],
    [422, 'erro_aplicacao', 'status_422'],
    [404, 'PixDevolucaoNaoEncontrada', 'status_404'],
    [404, 'NaoEncontrado', 'status_404'],
    [401, 'PixDevolucaoInvalida', 'status_401'],
    [403, 'PixDevolucaoInvalida', 'status_403'],
    [408, 'PixDevolucaoInvalida', 'status_408'],
    [409, 'PixDevolucaoInvalida', 'status_409'],
    [410, 'PixDevolucaoInvalida', 'status_410'],
    [429, 'PixDevolucaoInvalida', 'status_429'],
    [500, 'PixDevolucaoInvalida', 'status_500'],
    [503, 'valor_invalido', 'status_503'],
  ])('does not take %i %s for a refusal', async (status, code, cause) => {
    for (const answer of [apiPix, efi]) {
      provider.answerCall = (_, response) => answer(response, status, code);
      expect(await acquirer.refund(TO_SEND)).toEqual({ kind: 'unknown', cause });
    }
  });

  it.each(hostileAnswers(201, ANSWER_BYTES_MAX))(
    'after %s the outcome is unknown (%s), and nothing is sent twice',
    async (_, cause, handler) => {
      provider.answerCall = handler;
      await using client = clientFor(cause);
      expect(await client.refund(TO_SEND)).toEqual({ kind: 'unknown', cause });
      expect(provider.calls).toHaveLength(1);
    },
  );

  it.each(BROKEN)('an answer with %s is unreadable', async (_, change) => {
    provider.answerCall = (_request, response) => json(response, 201, { ...ACCEPTED, ...change });
    expect(await acquirer.refund(TO_SEND)).toEqual({ kind: 'unknown', cause: 'unreadable' });
  });

  it('takes a word of next year for a return on its way', async () => {
    provider.answerCall = (_, response) => json(response, 201, { ...ACCEPTED, status: 'EM_FILA' });
    expect(await acquirer.refund(TO_SEND)).toEqual({ kind: 'accepted', refund: READ });
  });

  it('without a token sends nothing', async () => {
    provider.answerToken = (_, response) => json(response, 500, {});
    expect(await acquirer.refund(TO_SEND)).toEqual({ kind: 'unknown', cause: 'token_status_500' });
    expect(provider.calls).toEqual([]);
  });

  it('takes an amount that cannot be written for a bug', async () => {
    const sending = acquirer.refund({ ...TO_SEND, amountCents: -1n });
    await expect(sending).rejects.toThrow('amount out of range');
  });
});

describe('looking a return up', () => {
  it.each([
    [{ status: 'EM_PROCESSAMENTO' }, {}],
    [
      { status: 'DEVOLVIDO', motivo: 'x', horario: { liquidacao: '2026-11-21T10:04:06-03:00' } },
      { status: 'returned', settledAt: new Date('2026-11-21T13:04:06.000Z') },
    ],
    [
      {
        status: 'NAO_REALIZADO',
        motivo: 'Negado\u0000 por timeout',
        horario: { liquidacao: '2026-11-21T13:04:06.000Z' },
      },
      { status: 'failed', reason: 'Negado  por timeout' },
    ],
    [{ status: 'NAO_REALIZADO', motivo: null }, { status: 'failed' }],
    [{ status: 'DEVOLVIDO', horario: null }, { status: 'returned' }],
    [
      { status: 'ESTORNADO', natureza: null, rtrId: null },
      { nature: null, returnId: null },
    ],
    [{ status: '' }, {}],
  ])('reads %j', async (change, expected) => {
    provider.answerCall = (_, response) => json(response, 200, { ...ACCEPTED, ...change });
    const found = await acquirer.getRefund(END_TO_END_ID, REFUND_ID);
    expect(found).toEqual({ kind: 'found', value: { ...READ, ...expected } });
    expect(provider.calls[0]).toMatchObject({ method: 'GET', url: PATH });
  });

  it('never says more than a failure reason holds', async () => {
    const failed = { ...ACCEPTED, status: 'NAO_REALIZADO', motivo: 'm'.repeat(5_000) };
    provider.answerCall = (_, response) => json(response, 200, failed);
    const found = await acquirer.getRefund(END_TO_END_ID, REFUND_ID);
    const reason = found.kind === 'found' ? found.value.reason : null;
    expect(reason?.length).toBeLessThanOrEqual(255);
  });

  it.each([
    [404, 'PixDevolucaoNaoEncontrada', apiPix],
    [400, 'devolucao_nao_encontrada', efi],
  ] as const)('takes %i %s for the word that there is none', async (status, code, answer) => {
    provider.answerCall = (_, response) => answer(response, status, code);
    expect(await acquirer.getRefund(END_TO_END_ID, REFUND_ID)).toEqual({ kind: 'not_found' });
  });

  it.each([
    [404, 'NaoEncontrado', 'status_404'],
    [404, 'PixNaoEncontrado', 'status_404'],
    [400, 'pix_nao_encontrado', 'status_400'],
    [422, 'devolucao_nao_encontrada', 'status_422'],
    [500, 'PixDevolucaoNaoEncontrada', 'status_500'],
  ])('takes %i %s for no such word', async (status, code, cause) => {
    provider.answerCall = (_, response) => apiPix(response, status, code);
    const outcome = await acquirer.getRefund(END_TO_END_ID, REFUND_ID);
    expect(outcome).toEqual({ kind: 'unknown', cause });
  });

  it.each(hostileAnswers(200, ANSWER_BYTES_MAX))(
    'after %s the outcome is unknown (%s)',
    async (_, cause, handler) => {
      provider.answerCall = handler;
      await using client = clientFor(cause);
      expect(await client.getRefund(END_TO_END_ID, REFUND_ID)).toEqual({ kind: 'unknown', cause });
      expect(provider.calls).toHaveLength(cause === 'status_401' ? 2 : 1);
    },
  );

  it.each(BROKEN)('an answer with %s is unreadable', async (_, change) => {
    provider.answerCall = (_request, response) => json(response, 200, { ...ACCEPTED, ...change });
    const outcome = await acquirer.getRefund(END_TO_END_ID, REFUND_ID);
    expect(outcome).toEqual({ kind: 'unknown', cause: 'unreadable' });
  });

  it('escapes what it puts into a path', async () => {
    await acquirer.getRefund('../a', 'b?c');
    expect(provider.calls[0]?.url).toBe('/v2/pix/..%2Fa/devolucao/b%3Fc');
  });
});
