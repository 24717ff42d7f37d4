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

const ID_ENVIO = '0f4ab1c7e0b84c0aa8a1c6a6c2f0d111';
const END_TO_END_ID = 'E12345678202611211304abcdef12345';
const TO_SEND = {
  idEnvio: ID_ENVIO,
  amountCents: 1_234n,
  pixKey: 'maria@example.com',
  recipientDocument: null,
  description: null,
};
const ACCEPTED = {
  idEnvio: ID_ENVIO,
  e2eId: END_TO_END_ID,
  valor: '12.34',
  horario: { solicitacao: '2026-11-21T13:04:05.678Z' },
  status: 'EM_PROCESSAMENTO',
};
const SENT = {
  endToEndId: END_TO_END_ID,
  idEnvio: ID_ENVIO,
  valor: '12.34',
  chave: 'key',
  status: 'REALIZADO',
  horario: {
    solicitacao: '2026-11-21T13:04:05.678Z',
    liquidacao: '2026-11-21T10:04:06.000-03:00',
  },
  favorecido: { chave: 'maria@example.com', identificacao: { nome: 'Maria', cpf: '***' } },
};

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

describe('sending', () => {
  beforeEach(() => {
    provider.answerCall = (_, response) => json(response, 201, ACCEPTED);
  });

  it('orders the Pix under its own idEnvio, from the key of the installation', async () => {
    expect(await acquirer.sendPayout(TO_SEND)).toEqual({
      kind: 'accepted',
      payout: {
        idEnvio: ID_ENVIO,
        endToEndId: END_TO_END_ID,
        status: 'processing',
        amountCents: 1_234n,
        reason: null,
        requestedAt: new Date('2026-11-21T13:04:05.678Z'),
        settledAt: null,
        returns: [],
      },
    });
    expect(provider.calls).toHaveLength(1);
    expect(provider.calls[0]).toMatchObject({ method: 'PUT', url: `/v3/gn/pix/${ID_ENVIO}` });
    expect(JSON.parse(provider.calls[0]?.body ?? '')).toEqual({
      valor: '12.34',
      pagador: { chave: 'key' },
      favorecido: { chave: 'maria@example.com' },
    });
  });

  it.each([
    ['52998224725', { cpf: '52998224725' }],
    ['12ABC34501DE35', { cnpj: '12ABC34501DE35' }],
  ])('names %s as the owner of the key, and tells the recipient why', async (document, owner) => {
    await acquirer.sendPayout({ ...TO_SEND, recipientDocument: document, description: 'Repasse' });
    expect(JSON.parse(provider.calls[0]?.body ?? '')).toEqual({
      valor: '12.34',
      pagador: { chave: 'key', infoPagador: 'Repasse' },
      favorecido: { chave: 'maria@example.com', ...owner },
    });
  });

  it.each([
    [400, 'chave_nao_pertence_ao_documento'],
    [400, 'valor_invalido'],
    [400, 'chave_invalida'],
    [400, 'documento_bloqueado'],
    [404, 'chave_favorecido_nao_encontrada'],
    [422, 'pagamento_negado'],
    [422, 'AC03'],
  ])('passes the words of a definite refusal on: %i %s', async (status, code) => {
    provider.answerCall = (_, response) => efi(response, status, code);
    expect(await acquirer.sendPayout(TO_SEND)).toEqual({
      kind: 'refused',
      code,
      message: 'Problema',
    });
  });

  it('reads a refusal in the form of API Pix too', async () => {
    provider.answerCall = (_, response) => apiPix(response, 400, 'RequisicaoInvalida');
    expect(await acquirer.sendPayout(TO_SEND)).toEqual({
      kind: 'refused',
      code: 'RequisicaoInvalida',
      message: 'Problema',
    });
  });

  it('calls a duplicate unknown, since the order may be any of its states', async () => {
    provider.answerCall = (_, response) => efi(response, 409, 'id_envio_duplicado');
    expect(await acquirer.sendPayout(TO_SEND)).toEqual({ kind: 'unknown', cause: 'duplicate' });
  });

  it.each([
    [400, 'id_envio_duplicado', 'duplicate'],
    [422, 'DUPL', 'status_422'],
    [422, 'a_code_of_next_year', 'status_422'],
    [400, 'erro_aplicacao', 'status_400'],
    [422, 'AcessoNegado', 'status_422'],
    [404, 'pagamento_negado', 'status_404'],
    [404, 'PixEnviadoNaoEncontrado', 'status_404'],
    [410, 'pagamento_negado', 'status_410'],
  ])('does not take %i %s for a refusal', async (status, code, cause) => {
    provider.answerCall = (_, response) => efi(response, status, code);
    expect(await acquirer.sendPayout(TO_SEND)).toEqual({ kind: 'unknown', cause });
  });

  it.each(hostileAnswers(201, ANSWER_BYTES_MAX))(
    'after %s the outcome is unknown (%s), and nothing is sent twice',
    async (_, cause, handler) => {
      provider.answerCall = handler;
      await using client = clientFor(cause);
      expect(await client.sendPayout(TO_SEND)).toEqual({ kind: 'unknown', cause });
      expect(provider.calls).toHaveLength(1);
    },
  );

  it.each([
    ['another idEnvio', { idEnvio: 'x'.repeat(32) }],
    ['no idEnvio', { idEnvio: undefined }],
    ['no end-to-end id', { e2eId: undefined }],
    ['an empty end-to-end id', { e2eId: '' }],
    ['an endless end-to-end id', { e2eId: 'E'.repeat(65) }],
    ['an amount that is a number', { valor: 12.34 }],
    ['an amount in another form', { valor: '12,34' }],
    ['a status of next year', { status: 'EM_ANALISE' }],
    ['no time', { horario: {} }],
  ])('an answer with %s is unreadable', async (_, change) => {
    provider.answerCall = (_request, response) => json(response, 201, { ...ACCEPTED, ...change });
    expect(await acquirer.sendPayout(TO_SEND)).toEqual({ kind: 'unknown', cause: 'unreadable' });
  });

  it('without a token sends nothing', async () => {
    provider.answerToken = (_, response) => json(response, 500, {});
    expect(await acquirer.sendPayout(TO_SEND)).toEqual({
      kind: 'unknown',
      cause: 'token_status_500',
    });
    expect(provider.calls).toEqual([]);
  });

  it('ends with its caller', async () => {
    const caller = new AbortController();
    provider.answerCall = () => caller.abort();
    const outcome = await acquirer.sendPayout(TO_SEND, { signal: caller.signal });
    expect(outcome).toEqual({ kind: 'unknown', cause: 'aborted' });
  });

  it('takes an amount that cannot be written for a bug', async () => {
    const sending = acquirer.sendPayout({ ...TO_SEND, amountCents: -1n });
    await expect(sending).rejects.toThrow('amount out of range');
  });
});

describe('looking a payout up', () => {
  it('finds it by its idEnvio', async () => {
    provider.answerCall = (_, response) => json(response, 200, SENT);
    expect(await acquirer.getPayout(ID_ENVIO)).toEqual({
      kind: 'found',
      value: {
        idEnvio: ID_ENVIO,
        endToEndId: END_TO_END_ID,
        status: 'settled',
        amountCents: 1_234n,
        reason: null,
        requestedAt: new Date('2026-11-21T13:04:05.678Z'),
        settledAt: new Date('2026-11-21T13:04:06.000Z'),
        returns: [],
      },
    });
    expect(provider.calls[0]).toMatchObject({
      method: 'GET',
      url: `/v2/gn/pix/enviados/id-envio/${ID_ENVIO}`,
    });
  });

  it.each([
    [404, 'PixEnviadoNaoEncontrado', apiPix],
    [400, 'pix_enviado_nao_encontrado', efi],
    [400, 'pix_nao_encontrado', efi],
  ] as const)('takes %i %s for the word that there is none', async (status, code, answer) => {
    provider.answerCall = (_, response) => answer(response, status, code);
    expect(await acquirer.getPayout(ID_ENVIO)).toEqual({ kind: 'not_found' });
  });

  it.each([
    [404, 'NaoEncontrado', 'status_404'],
    [404, 'CobNaoEncontrado', 'status_404'],
    [400, 'valor_invalido', 'status_400'],
    [422, 'pix_nao_encontrado', 'status_422'],
    [500, 'PixEnviadoNaoEncontrado', 'status_500'],
  ])('takes %i %s for no such word', async (status, code, cause) => {
    provider.answerCall = (_, response) => apiPix(response, status, code);
    expect(await acquirer.getPayout(ID_ENVIO)).toEqual({ kind: 'unknown', cause });
  });

  it.each(hostileAnswers(200, ANSWER_BYTES_MAX))(
    'after %s the outcome is unknown (%s)',
    async (_, cause, handler) => {
      provider.answerCall = handler;
      await using client = clientFor(cause);
      expect(await client.getPayout(ID_ENVIO)).toEqual({ kind: 'unknown', cause });
      expect(provider.calls).toHaveLength(cause === 'status_401' ? 2 : 1);
    },
  );

  it('does not believe an answer about another payout', async () => {
    provider.answerCall = (_, response) => json(response, 200, { ...SENT, idEnvio: 'other' });
    expect(await acquirer.getPayout(ID_ENVIO)).toEqual({ kind: 'unknown', cause: 'unreadable' });
  });

  it('escapes what it puts into a path', async () => {
    provider.answerCall = (_, response) => apiPix(response, 404, 'PixEnviadoNaoEncontrado');
    await acquirer.getPayout('a/b?c');
    expect(provider.calls[0]?.url).toBe('/v2/gn/pix/enviados/id-envio/a%2Fb%3Fc');
  });
});

describe('the balance', () => {
  it.each([
    ['0.00', 0n],
    ['100.01', 10_001n],
    ['-0.01', -1n],
    ['-123.45', -12_345n],
    ['123456789012345.67', 12_345_678_901_234_567n],
  ])('%s is %s cents', async (saldo, amountCents) => {
    provider.answerCall = (_, response) => json(response, 200, { saldo, bloqueios: {} });
    expect(await acquirer.balance()).toEqual({ kind: 'found', amountCents });
    expect(provider.calls[0]).toMatchObject({ method: 'GET', url: '/v2/gn/saldo' });
  });

  it.each([{ saldo: 100 }, { saldo: '100' }, { saldo: '1e3.00' }, { saldo: '--1.00' }, {}])(
    '%j is unreadable',
    async (body) => {
      provider.answerCall = (_, response) => json(response, 200, body);
      expect(await acquirer.balance()).toEqual({ kind: 'unknown', cause: 'unreadable' });
    },
  );

  it.each(hostileAnswers(200, ANSWER_BYTES_MAX))(
    'after %s it is unknown (%s)',
    async (_, cause, handler) => {
      provider.answerCall = handler;
      await using client = clientFor(cause);
      expect(await client.balance()).toEqual({ kind: 'unknown', cause });
    },
  );
});
