import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  aCharge,
  aSend,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

let database: TestDatabase;
let simulator: TestSimulator;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  token = await simulator.token();
});

afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function call(method: string, path: string, body?: unknown) {
  const answer = await fetch(`${simulator.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const contentType = answer.headers.get('content-type');
  return {
    status: answer.status,
    contentType,
    body: (await answer.json()) as Record<string, unknown>,
  };
}

const BODY = {
  calendario: { expiracao: 3600 },
  devedor: { cpf: '52998224725', nome: 'Maria' },
  valor: { original: '12.34' },
  chave: TEST_ACCOUNT.pixKey,
  infoAdicionais: [{ nome: 'Pedido', valor: '1' }],
};

const SEND = {
  valor: '12.34',
  pagador: { chave: TEST_ACCOUNT.pixKey, infoPagador: 'Repasse' },
  favorecido: { chave: 'maria@example.com' },
};

describe("the provider's API", () => {
  it('refuses a call without a valid token, in its own form', async () => {
    const answer = await fetch(`${simulator.url}/v2/cob/${aCharge().txid}`, {
      headers: { authorization: `Bearer 9999999999.${'A'.repeat(43)}` },
    });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({
      type: 'https://pix.bcb.gov.br/api/v2/error/AcessoNegado',
    });
  });

  it('shows a charge as API Pix does', async () => {
    const { txid } = aCharge();
    const issued = await call('PUT', `/v2/cob/${txid}`, BODY);
    expect(issued.status).toBe(201);
    expect(issued.body).toMatchObject({
      txid,
      revisao: 0,
      status: 'ATIVA',
      loc: { tipoCob: 'cob', location: issued.body['location'] },
      devedor: BODY.devedor,
      valor: { original: '12.34' },
      infoAdicionais: BODY.infoAdicionais,
    });
    const found = await call('GET', `/v2/cob/${txid}`);
    expect(found).toMatchObject({ status: 200, body: issued.body });
    const removed = await call('PATCH', `/v2/cob/${txid}`, {
      status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR',
    });
    expect(removed.body).toMatchObject({ revisao: 1, status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' });
  });

  it('takes a day as the default expiry', async () => {
    const { calendario: _, ...rest } = BODY;
    const issued = await call('PUT', `/v2/cob/${aCharge().txid}`, rest);
    expect(issued.body).toMatchObject({ calendario: { expiracao: 86_400 } });
  });

  it('names what is wrong with a body as problem+json, without its values', async () => {
    const body = { ...BODY, valor: { original: '12,34' }, devedor: { cpf: '1', nome: 'Secret' } };
    const answer = await call('PUT', `/v2/cob/${aCharge().txid}`, body);
    expect(answer).toMatchObject({
      status: 400,
      contentType: 'application/problem+json; charset=utf-8',
      body: { type: 'https://pix.bcb.gov.br/api/v2/error/CobOperacaoInvalida', status: 400 },
    });
    const violated = (answer.body['violacoes'] as { propriedade: string }[]).map(
      ({ propriedade }) => propriedade,
    );
    expect(violated).toEqual(['devedor.cpf', 'valor.original']);
    expect(JSON.stringify(answer.body)).not.toContain('Secret');
  });

  it.each([
    ['a body that is no JSON', '{', 'CobOperacaoInvalida'],
    ['a body that is a list', '[]', 'CobOperacaoInvalida'],
    ['an amount of zero', { ...BODY, valor: { original: '0.00' } }, 'valor_invalido'],
  ])('refuses %s', async (_, body, code) => {
    const answer = await call('PUT', `/v2/cob/${aCharge().txid}`, body);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(code);
  });

  it('refuses a body that is too large in its own form', async () => {
    const answer = await call('PUT', `/v2/cob/${aCharge().txid}`, 'x'.repeat(100_000));
    expect(answer.status).toBe(413);
    expect(answer.body['type']).toBe('https://pix.bcb.gov.br/api/v2/error/RequisicaoInvalida');
  });

  it('lists what was received in a window, both ends included, page by page, and by whether it went back', async () => {
    const times = [
      '2020-01-01T00:00:00.000Z',
      '2020-01-01T00:00:01.000Z',
      '2020-01-01T00:00:02.000Z',
    ];
    for (const paid_at of times) {
      const { txid } = aCharge();
      await call('PUT', `/v2/cob/${txid}`, BODY);
      await simulator.call('POST', `/control/charges/${txid}/pay`, { paid_at });
    }
    const window = `inicio=${times[0]}&fim=${times[1]}&paginacao.itensPorPagina=1`;
    const page = await call('GET', `/v2/pix?${window}&paginacao.paginaAtual=1`);
    expect(page.body).toMatchObject({
      parametros: { paginacao: { quantidadeDePaginas: 2, quantidadeTotalDeItens: 2 } },
      pix: [{ horario: times[1], valor: '12.34' }],
    });
    const all = `inicio=${times[0]}&fim=${times[2]}`;
    const { pix } = (await call('GET', `/v2/pix?${all}`)).body as { pix: { endToEndId: string }[] };
    const [returned, ...others] = pix.map(({ endToEndId }) => endToEndId);
    await simulator.call('POST', `/control/pix/${returned}/returns`, { amount: 1 });
    for (const [isReturned, ids] of [
      ['true', [returned]],
      ['false', others],
    ] as const) {
      const listed = await call('GET', `/v2/pix?${all}&devolucaoPresente=${isReturned}`);
      expect(listed.body).toMatchObject({ pix: ids.map((endToEndId) => ({ endToEndId })) });
    }
    const backwards = await call('GET', `/v2/pix?inicio=${times[1]}&fim=${times[0]}`);
    expect(backwards.status).toBe(400);
    expect(backwards.body['type']).toMatch(/\/PixConsultaInvalida$/);
  });

  it('shows a sent Pix by either id as Efí does', async () => {
    const { idEnvio } = aSend();
    const accepted = await call('PUT', `/v3/gn/pix/${idEnvio}`, {
      ...SEND,
      favorecido: { ...SEND.favorecido, cpf: '52998224725' },
    });
    expect(accepted).toMatchObject({
      status: 201,
      contentType: 'application/json; charset=utf-8',
      body: { idEnvio, valor: '12.34', status: 'EM_PROCESSAMENTO' },
    });
    const endToEndId = String(accepted.body['e2eId']);
    const byId = await call('GET', `/v2/gn/pix/enviados/id-envio/${idEnvio}`);
    expect(byId).toMatchObject({
      status: 200,
      body: {
        endToEndId,
        idEnvio,
        valor: '12.34',
        chave: TEST_ACCOUNT.pixKey,
        infoPagador: 'Repasse',
        favorecido: {
          chave: SEND.favorecido.chave,
          identificacao: { nome: expect.any(String), cpf: '***.982.247-**' },
        },
      },
    });
    const byE2e = await call('GET', `/v2/gn/pix/enviados/${endToEndId}`);
    expect(byE2e.body).toMatchObject({ endToEndId, idEnvio });
  });

  it.each([
    ['PUT', 'with-hyphen', SEND, 400, 'RequisicaoInvalida'],
    ['PUT', 'x'.repeat(36), SEND, 400, 'RequisicaoInvalida'],
    ['PUT', 'a1', { ...SEND, valor: '1' }, 400, 'RequisicaoInvalida'],
    ['PUT', 'a1', { ...SEND, valor: '0.00' }, 400, 'valor_invalido'],
    ['PUT', 'a1', { ...SEND, pagador: { chave: 'other' } }, 400, 'chave_invalida'],
    ['PUT', 'a1', { ...SEND, favorecido: { chave: '' } }, 400, 'RequisicaoInvalida'],
    ['PUT', 'a1', { ...SEND, favorecido: { chave: 'x', cpf: '1' } }, 400, 'RequisicaoInvalida'],
    ['PUT', 'a1', '{', 400, 'RequisicaoInvalida'],
    ['GET', 'a1', undefined, 404, 'PixEnviadoNaoEncontrado'],
  ])('answers %s of %s %j with %i %s', async (method, id, body, status, name) => {
    const path = method === 'PUT' ? `/v3/gn/pix/${id}` : `/v2/gn/pix/enviados/id-envio/${id}`;
    const answer = await call(method, path, body);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(name);
  });

  it('does not know a sent Pix by a foreign end-to-end id', async () => {
    const answer = await call('GET', '/v2/gn/pix/enviados/E1');
    expect(answer).toMatchObject({
      status: 404,
      contentType: 'application/problem+json; charset=utf-8',
      body: { type: 'https://pix.bcb.gov.br/api/v2/error/PixEnviadoNaoEncontrado' },
    });
  });

  it('shows the balance, and what is blocked of it when asked', async () => {
    const { body } = await call('GET', '/v2/gn/saldo');
    expect(body).toEqual({ saldo: expect.stringMatching(/^-?\d+\.\d{2}$/) });
    const detailed = await call('GET', '/v2/gn/saldo?bloqueios=true');
    expect(detailed.body).toEqual({
      saldo: body['saldo'],
      bloqueios: { judicial: '0.00', med: '0.00', total: '0.00' },
    });
  });

  it('keeps one webhook per key and shows it', async () => {
    const path = `/v2/webhook/${TEST_ACCOUNT.pixKey}`;
    expect((await call('GET', path)).status).toBe(404);
    await call('PUT', path, { webhookUrl: 'http://a.example/1' });
    await call('PUT', path, { webhookUrl: 'http://a.example/2' });
    expect(await call('GET', path)).toMatchObject({
      status: 200,
      body: { webhookUrl: 'http://a.example/2', chave: TEST_ACCOUNT.pixKey },
    });
    const foreign = await call('PUT', '/v2/webhook/other', { webhookUrl: 'http://a.example' });
    expect(foreign.body['nome']).toBe('chave_invalida');
    expect((await call('PUT', path, { webhookUrl: 'file:///etc' })).status).toBe(400);
  });
});
