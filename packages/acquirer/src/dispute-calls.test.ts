import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Acquirer } from './acquirer.ts';
import { ANSWER_BYTES_MAX } from './exchange.ts';
import {
  apiPix,
  efi,
  hostileAnswers,
  startTestProvider,
  type TestProvider,
} from './testing/test-provider.ts';

const TIMEOUT_MS = 5_000;
/** Deadline of a client whose answer never comes. */
const HASTY_MS = 400;

const DEFENSE = { disputeId: '0f4ab1c7-e0b8-4c0a-a8a1-c6a6c2f0d111', text: 'Entregue.' };

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

describe('contesting a dispute', () => {
  it('rejects the infraction in the words of the merchant', async () => {
    provider.answerCall = (_, response) =>
      void response.writeHead(201).end('Defesa de infração MED criada');
    expect(await acquirer.submitDefense(DEFENSE)).toEqual({ kind: 'accepted' });
    expect(provider.calls).toHaveLength(1);
    expect(provider.calls[0]).toMatchObject({
      method: 'POST',
      url: `/v2/gn/infracoes/${DEFENSE.disputeId}/defesa`,
    });
    expect(JSON.parse(provider.calls[0]?.body ?? '')).toEqual({
      analise: 'rejeitado',
      justificativa: 'Entregue.',
    });
  });

  it.each([
    [400, 'InfracoesConsultaInvalida', apiPix],
    [422, 'InfracaoOperacaoInvalida', apiPix],
    [400, 'RequisicaoInvalida', apiPix],
    [400, 'json_invalido', efi],
  ] as const)('passes the words of a definite refusal on: %i %s', async (status, code, answer) => {
    provider.answerCall = (_, response) => answer(response, status, code);
    const outcome = await acquirer.submitDefense(DEFENSE);
    expect(outcome).toEqual({ kind: 'refused', code, message: 'Problema' });
  });

  it.each([
    [404, 'InfracaoNaoEncontrada', apiPix],
    [404, 'NaoEncontrado', apiPix],
    [400, 'infracao_nao_encontrada', efi],
  ] as const)('takes %i %s for the word that there is none', async (status, code, answer) => {
    provider.answerCall = (_, response) => answer(response, status, code);
    expect(await acquirer.submitDefense(DEFENSE)).toEqual({ kind: 'not_found' });
  });

  it.each([
    [400, 'a_code_of_next_year', 'status_400'],
    [404, 'InfracaoOperacaoInvalida', 'status_404'],
    [409, 'InfracaoOperacaoInvalida', 'status_409'],
    [500, 'InfracaoErroInterno', 'status_500'],
  ])('does not take %i %s for either', async (status, code, cause) => {
    provider.answerCall = (_, response) => apiPix(response, status, code);
    expect(await acquirer.submitDefense(DEFENSE)).toEqual({ kind: 'unknown', cause });
  });

  it('does not take a page of something in between for an answer', async () => {
    provider.answerCall = (_, response) => void response.writeHead(200).end('<html>');
    expect(await acquirer.submitDefense(DEFENSE)).toEqual({ kind: 'unknown', cause: 'status_200' });
  });

  const hostile = hostileAnswers(201, ANSWER_BYTES_MAX);
  // Of an answer that says "created" no body is read.
  it.each(hostile.filter(([, cause]) => cause !== 'unreadable'))(
    'after %s the outcome is unknown (%s), and nothing is sent twice',
    async (_, cause, handler) => {
      provider.answerCall = handler;
      await using client = provider.connect(cause === 'timeout' ? HASTY_MS : TIMEOUT_MS);
      expect(await client.submitDefense(DEFENSE)).toEqual({ kind: 'unknown', cause });
      expect(provider.calls).toHaveLength(1);
    },
  );

  it('escapes what it puts into a path', async () => {
    await acquirer.submitDefense({ ...DEFENSE, disputeId: '../a?b' });
    expect(provider.calls[0]?.url).toBe('/v2/gn/infracoes/..%2Fa%3Fb/defesa');
  });
});
