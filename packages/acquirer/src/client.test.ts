import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { standStill } from '@pixmesh/testkit/stand-still';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Acquirer } from './acquirer.ts';
import { FAILURES_MAX } from './circuit.ts';
import { ANSWER_BYTES_MAX } from './exchange.ts';
import {
  efi,
  type Handler,
  hostileAnswers,
  json,
  startTestProvider,
  type TestProvider,
} from './testing/test-provider.ts';

const TXID = '7978c0c97ea847e78e8849634473c1f1';
const CHARGE = {
  calendario: { criacao: '2026-09-09T20:15:00.358Z', expiracao: 3600 },
  txid: TXID,
  status: 'ATIVA',
  valor: { original: '10.00' },
  chave: 'key',
};
const TO_ISSUE = {
  txid: TXID,
  amountCents: 1000n,
  expiresInSeconds: 3600,
  debtor: { name: 'Maria', document: '52998224725' },
  description: null,
};
/** By which anybody pays anything to the key in it. */
const STATIC =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR' +
  '5913Fulano de Tal6008BRASILIA62070503***63041D3D';
const TIMEOUT_MS = 5_000;
/** Deadline of a client whose answer never comes. */
const HASTY_MS = 400;

let provider: TestProvider;
let acquirer: Acquirer;

beforeEach(async () => {
  provider = await startTestProvider();
  provider.answerCall = (_, response) => json(response, 200, CHARGE);
  acquirer = provider.connect(TIMEOUT_MS);
});

afterEach(async () => {
  await acquirer[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

describe('issuing', () => {
  it('sends the charge under its own txid and answers what the acquirer stored', async () => {
    provider.answerCall = (_, response) => json(response, 201, CHARGE);
    const outcome = await acquirer.issueCharge({ ...TO_ISSUE, description: 'Pedido 1' });
    expect(outcome).toMatchObject({ kind: 'issued', charge: { amountCents: 1000n } });
    expect(provider.calls).toHaveLength(1);
    expect(provider.calls[0]).toMatchObject({ method: 'PUT', url: `/v2/cob/${TXID}` });
    expect(JSON.parse(provider.calls[0]?.body ?? '')).toEqual({
      calendario: { expiracao: 3600 },
      devedor: { cpf: '52998224725', nome: 'Maria' },
      valor: { original: '10.00', modalidadeAlteracao: 0 },
      chave: 'key',
      solicitacaoPagador: 'Pedido 1',
    });
  });

  it('names a company by its CNPJ', async () => {
    await acquirer.issueCharge({
      ...TO_ISSUE,
      debtor: { name: 'ACME', document: '12ABC34501DE35' },
    });
    const body = JSON.parse(provider.calls[0]?.body ?? '') as { devedor: unknown };
    expect(body.devedor).toEqual({ cnpj: '12ABC34501DE35', nome: 'ACME' });
  });

  it('passes the words of a definite refusal on', async () => {
    provider.answerCall = (_, response) =>
      json(response, 400, { nome: 'documento_bloqueado', mensagem: 'Documento com bloqueios' });
    expect(await acquirer.issueCharge(TO_ISSUE)).toEqual({
      kind: 'refused',
      code: 'documento_bloqueado',
      message: 'Documento com bloqueios',
    });
  });

  it('reads an answer that came while this process was blocked for longer than the deadline', async () => {
    await using client = provider.connect(HASTY_MS);
    expect(await client.issueCharge(TO_ISSUE)).toMatchObject({ kind: 'issued' });
    provider.answerCall = (_, response) => {
      json(response, 201, CHARGE);
      standStill(2 * HASTY_MS);
    };
    expect(await client.issueCharge(TO_ISSUE)).toMatchObject({ kind: 'issued' });
  });

  it.each<[string, string, Handler]>([
    ...hostileAnswers(201, ANSWER_BYTES_MAX),
    ['a duplicate', 'status_409', (_, r) => efi(r, 409, 'txid_duplicado')],
    ['another charge', 'unreadable', (_, r) => json(r, 201, { ...CHARGE, txid: 'y'.repeat(32) })],
    ['a broken schema', 'unreadable', (_, r) => json(r, 201, { ...CHARGE, valor: {} })],
    ['a static code', 'foreign_code', (_, r) => json(r, 201, { ...CHARGE, pixCopiaECola: STATIC })],
  ])(
    'after %s the outcome is unknown (%s), and nothing is sent twice',
    async (_, cause, handler) => {
      provider.answerCall = handler;
      await using client = provider.connect(cause === 'timeout' ? HASTY_MS : TIMEOUT_MS);
      expect(await client.issueCharge(TO_ISSUE)).toEqual({ kind: 'unknown', cause });
      expect(provider.calls).toHaveLength(1);
    },
  );

  it('is unknown at once when nobody listens', async () => {
    await provider[Symbol.asyncDispose]();
    const outcome = await acquirer.issueCharge(TO_ISSUE);
    expect(outcome).toEqual({ kind: 'unknown', cause: 'token_connection' });
  });

  it('ends with its caller', async () => {
    provider.answerCall = () => caller.abort();
    const caller = new AbortController();
    const outcome = await acquirer.issueCharge(TO_ISSUE, { signal: caller.signal });
    expect(outcome).toEqual({ kind: 'unknown', cause: 'aborted' });
  });
});

describe('reading', () => {
  it('tells a missing charge from a bare 404', async () => {
    provider.answerCall = (_, response) => json(response, 404, { message: 'Route not found' });
    expect(await acquirer.getCharge(TXID)).toEqual({ kind: 'unknown', cause: 'status_404' });
    const type = 'https://pix.bcb.gov.br/api/v2/error/CobNaoEncontrado';
    provider.answerCall = (_, response) =>
      json(response, 404, { type, title: 'Não encontrado', status: 404 });
    expect(await acquirer.getCharge(TXID)).toEqual({ kind: 'not_found' });
  });

  it('does not take a charge whose code pays something else for found', async () => {
    provider.answerCall = (_, r) => json(r, 200, { ...CHARGE, pixCopiaECola: STATIC });
    expect(await acquirer.getCharge(TXID)).toEqual({ kind: 'unknown', cause: 'foreign_code' });
  });

  it('tries once more with a new token after 401, and not again', async () => {
    provider.answerCall = (_, response) => json(response, 401, {});
    expect(await acquirer.getCharge(TXID)).toEqual({ kind: 'unknown', cause: 'status_401' });
    expect(provider.calls.map((call) => call.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
  });

  it('finds a received Pix by its end-to-end id', async () => {
    const pix = { endToEndId: 'E1', valor: '0.01', horario: '2026-09-10T13:03:33.902Z' };
    provider.answerCall = (_, response) => json(response, 200, pix);
    const found = await acquirer.getReceived('E1');
    expect(found).toMatchObject({ kind: 'found', value: { amountCents: 1n, txid: null } });
    expect(provider.calls[0]).toMatchObject({ method: 'GET', url: '/v2/pix/E1' });
  });
});

describe('canceling', () => {
  it('counts only when the acquirer shows the charge as removed', async () => {
    expect(await acquirer.cancelCharge(TXID)).toEqual({ kind: 'unknown', cause: 'unreadable' });
    provider.answerCall = (_, response) =>
      json(response, 200, { ...CHARGE, status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' });
    expect(await acquirer.cancelCharge(TXID)).toMatchObject({ kind: 'canceled' });
  });
});

describe('registering the callback', () => {
  it('puts the URL under the Pix key', async () => {
    await acquirer.registerCallback('https://hooks.example.com/acquirer/secret');
    expect(provider.calls[0]).toMatchObject({ method: 'PUT', url: '/v2/webhook/key' });
    expect(JSON.parse(provider.calls[0]?.body ?? '')).toEqual({
      webhookUrl: 'https://hooks.example.com/acquirer/secret',
    });
  });

  it.each([
    { mutualTls: false, header: 'true' },
    { mutualTls: true, header: undefined },
  ])(
    'has mutual TLS tried out only where it is demanded: $mutualTls',
    async ({ mutualTls, header }) => {
      await acquirer.registerCallback('https://hooks.example.com/acquirer/secret', { mutualTls });
      expect(provider.calls[0]?.headers['x-skip-mtls-checking']).toBe(header);
    },
  );

  it('throws when the acquirer does not take it, without quoting the URL', async () => {
    provider.answerCall = (_, response) =>
      json(response, 400, { nome: 'webhook_invalido', mensagem: 'no' });
    const registering = acquirer.registerCallback('https://hooks.example.com/acquirer/secret');
    await expect(registering).rejects.toMatchObject({
      code: 'ACQUIRER_REJECTED',
      message: 'the acquirer did not take the callback URL: webhook_invalido',
    });
  });
});

describe('the breaker', () => {
  async function failTimes(times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) await acquirer.getCharge(TXID);
  }

  it.each<[string, Handler, string]>([
    ['5xx', (_, r) => json(r, 503, {}), 'status_503'],
    ['a reset', (q) => q.socket.resetAndDestroy(), 'connection'],
  ])('keeps calls of an operation back after %s in a row: nothing is sent', async (_, bad, why) => {
    provider.answerCall = bad;
    await failTimes(FAILURES_MAX);
    expect(provider.calls).toHaveLength(FAILURES_MAX);
    const open = { kind: 'unknown', cause: `breaker_open:${why}` };
    expect(await acquirer.getCharge(TXID)).toEqual(open);
    expect(await acquirer.getCharge(TXID)).toEqual(open);
    expect(provider.calls).toHaveLength(FAILURES_MAX);
  });

  it('does not hold back other operations, which the provider still answers', async () => {
    provider.answerCall = (_, response) => json(response, 503, {});
    await failTimes(FAILURES_MAX);
    provider.answerCall = (_, response) => json(response, 201, CHARGE);
    expect(await acquirer.issueCharge(TO_ISSUE)).toMatchObject({ kind: 'issued' });
    expect(await acquirer.getCharge(TXID)).toEqual({
      kind: 'unknown',
      cause: 'breaker_open:status_503',
    });
  });

  it('keeps back calls of the account that alone is not answered, and says why', async () => {
    const [own, other] = [{ accountId: newId<AccountId>() }, { accountId: newId<AccountId>() }];
    provider.answerCall = (_, response) => json(response, 503, {});
    for (let time = 0; time < 2 * FAILURES_MAX; time += 1) await acquirer.getCharge(TXID, own);
    expect(provider.calls).toHaveLength(FAILURES_MAX);
    provider.answerCall = (_, response) => json(response, 500, {});
    expect(await acquirer.getCharge(TXID, other)).toMatchObject({ cause: 'status_500' });
    const kept = { kind: 'unknown', cause: 'breaker_open:status_503' };
    expect(await acquirer.getCharge(TXID, own)).toEqual(kept);
    provider.answerCall = (_, response) => json(response, 200, CHARGE);
    expect(await acquirer.getCharge(TXID, other)).toMatchObject({ kind: 'found' });
    expect(await acquirer.getCharge(TXID)).toMatchObject({ kind: 'found' });
  });

  it('opens also where a caller has left in between, which is no answer', async () => {
    const fails: Handler = (_, response) => json(response, 503, {});
    provider.answerCall = fails;
    await failTimes(FAILURES_MAX - 1);
    const caller = new AbortController();
    provider.answerCall = () => caller.abort();
    const left = await acquirer.getCharge(TXID, { signal: caller.signal });
    expect(left).toEqual({ kind: 'unknown', cause: 'aborted' });
    provider.answerCall = fails;
    await failTimes(1);
    expect(await acquirer.getCharge(TXID)).toMatchObject({ cause: 'breaker_open:status_503' });
  });

  it('opens where no token can be had, and asks for none then', async () => {
    let asked = 0;
    provider.answerToken = (_, response) => {
      asked += 1;
      json(response, 500, {});
    };
    await failTimes(FAILURES_MAX + 5);
    expect(asked).toBe(FAILURES_MAX);
  });

  it.each<[string, Handler]>([
    ['a refusal', (_, r) => efi(r, 400, 'valor_invalido')],
    ['"not found"', (_, r) => efi(r, 404, 'cobranca_nao_encontrada')],
    ['"too many"', (_, r) => json(r, 429, {})],
    ['401', (_, r) => json(r, 401, {})],
    ['HTML', (_, r) => void r.writeHead(200).end('<html>')],
  ])('stays closed after %s, which is an answer', async (_, answer) => {
    provider.answerCall = answer;
    await failTimes(FAILURES_MAX);
    provider.answerCall = (_request, response) => json(response, 200, CHARGE);
    expect(await acquirer.getCharge(TXID)).toMatchObject({ kind: 'found' });
  });

  it('is of one client: another one calls on', async () => {
    provider.answerCall = (_, response) => json(response, 500, {});
    await failTimes(FAILURES_MAX);
    provider.answerCall = (_, response) => json(response, 200, CHARGE);
    await using other = provider.connect(TIMEOUT_MS);
    expect(await other.getCharge(TXID)).toMatchObject({ kind: 'found' });
  });
});

describe('the token', () => {
  it('is asked for once by many calls at the same time, and kept', async () => {
    await Promise.all(Array.from({ length: 20 }, () => acquirer.getCharge(TXID)));
    await acquirer.getCharge(TXID);
    expect(provider.tokensIssued).toBe(1);
    expect(provider.calls).toHaveLength(21);
  });

  it('is asked for with the credentials', async () => {
    let authorization: string | undefined;
    const issue = provider.answerToken;
    provider.answerToken = (request, response) => {
      authorization = request.headers.authorization;
      issue(request, response);
    };
    await acquirer.getCharge(TXID);
    expect(authorization).toBe(`Basic ${Buffer.from('client:secret').toString('base64')}`);
  });

  it('that cannot be had leaves the call unsent and its outcome unknown, until it can', async () => {
    const issue = provider.answerToken;
    provider.answerToken = (_, response) => json(response, 500, {});
    expect(await acquirer.issueCharge(TO_ISSUE)).toEqual({
      kind: 'unknown',
      cause: 'token_status_500',
    });
    expect(provider.calls).toHaveLength(0);
    provider.answerToken = issue;
    expect(await acquirer.issueCharge(TO_ISSUE)).toMatchObject({ kind: 'issued' });
  });

  it('that never comes is given up at the deadline', async () => {
    provider.answerToken = () => undefined;
    await using hasty = provider.connect(HASTY_MS);
    expect(await hasty.issueCharge(TO_ISSUE)).toEqual({
      kind: 'unknown',
      cause: 'token_timeout',
    });
    expect(provider.calls).toHaveLength(0);
  });
});
