import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  aCharge,
  aPaidCharge,
  aSend,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

const TYPES = 'https://pix.bcb.gov.br/api/v2/error/';
const PROBLEM = 'application/problem+json; charset=utf-8';

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

type Answer = { status: number; contentType: string | null; body: Record<string, unknown> };

async function call(
  method: string,
  path: string,
  body?: object | string,
  bearer: string | null = token,
): Promise<Answer & { headers: Headers }> {
  const answer = await fetch(`${simulator.url}${path}`, {
    method,
    headers: { ...(bearer !== null && { authorization: `Bearer ${bearer}` }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    contentType: answer.headers.get('content-type'),
    headers: answer.headers,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

function problem(status: number, name: string) {
  return { status, contentType: PROBLEM, body: { type: `${TYPES}${name}`, status } };
}

const BODY = {
  calendario: { expiracao: 3600 },
  valor: { original: '12.34' },
  chave: TEST_ACCOUNT.pixKey,
};
const NEW_CHARGE = `/v2/cob/${'a'.repeat(32)}`;

describe('an unknown path or method', () => {
  it.each([
    ['GET', '/v2/loc', 404, 'NaoEncontrado'],
    ['GET', '/v2', 404, 'NaoEncontrado'],
    ['GET', '/v2/cob/', 404, 'NaoEncontrado'],
    ['PUT', '/v3/gn/other', 404, 'NaoEncontrado'],
    ['DELETE', '/v2/cob/x', 405, 'RequisicaoInvalida'],
    ['POST', '/v2/cob', 405, 'RequisicaoInvalida'],
  ])('%s %s needs a token and is then %i %s', async (method, path, status, name) => {
    expect(await call(method, path, undefined, null)).toMatchObject(problem(401, 'AcessoNegado'));
    const answer = await call(method, path);
    expect(answer).toMatchObject(problem(status, name));
    expect(answer.headers.has('allow')).toBe(status === 405);
  });
});

describe('what is not simulated is refused', () => {
  it.each<[string, object, string]>([
    ['loc.id', { loc: { id: 7, tipoCob: 'cob' } }, 'loc'],
    [
      'a free amount',
      { valor: { original: '1.00', modalidadeAlteracao: 1 } },
      'valor.modalidadeAlteracao',
    ],
    [
      'a withdrawal',
      { valor: { original: '0.00', retirada: { saque: { valor: '10.00' } } } },
      'valor.retirada',
    ],
    [
      'a debtor with both documents',
      { devedor: { cpf: '52998224725', cnpj: '11222333000181', nome: 'Ana' } },
      'devedor',
    ],
  ])('%s of a charge', async (_, change, propriedade) => {
    const answer = await call('PUT', NEW_CHARGE, { ...BODY, ...change });
    expect(answer).toMatchObject(problem(400, 'CobOperacaoInvalida'));
    const violated = answer.body['violacoes'] as { propriedade: string }[];
    expect(violated.map((one) => one.propriedade.split('.').slice(0, 2).join('.'))).toContain(
      propriedade,
    );
  });

  it('a removal that changes something else too', async () => {
    const { txid } = aCharge();
    await call('PUT', `/v2/cob/${txid}`, BODY);
    const removal = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' };
    const refused = problem(400, 'CobOperacaoInvalida');
    for (const more of [
      { valor: { original: '1.00' } },
      { solicitacaoPagador: 'x' },
      { other: 1 },
    ]) {
      expect(await call('PATCH', `/v2/cob/${txid}`, { ...removal, ...more })).toMatchObject(
        refused,
      );
    }
    expect(await call('PATCH', `/v2/cob/${txid}`, { chave: 'x' })).toMatchObject(refused);
    const shown = await call('GET', `/v2/cob/${txid}?revisao=0`);
    expect(shown.body).toMatchObject({ status: 'ATIVA', revisao: 0 });
    const removed = await call('PATCH', `/v2/cob/${txid}`, removal);
    expect(removed.body).toMatchObject({ revisao: 1 });
    const found = await call('GET', `/v2/cob/${txid}?revisao=1`);
    expect(found.body).toMatchObject({ revisao: 1, status: removal.status });
    for (const revisao of ['0', '2', 'x']) {
      const older = await call('GET', `/v2/cob/${txid}?revisao=${revisao}`);
      expect(older).toMatchObject(problem(400, 'CobConsultaInvalida'));
    }
  });

  it('the return of a withdrawal', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    const body = { valor: '1.00', natureza: 'RETIRADA' };
    const answer = await call('PUT', `/v2/pix/${endToEndId}/devolucao/r1`, body);
    expect(answer).toMatchObject(problem(400, 'PixDevolucaoInvalida'));
  });

  it('an order to a bank account, or to somebody with two documents', async () => {
    const order = { valor: '1.00', pagador: { chave: TEST_ACCOUNT.pixKey } };
    for (const favorecido of [
      { chave: 'x', contaBanco: { agencia: '1' } },
      { chave: 'x', cpf: '52998224725', cnpj: '11222333000181' },
    ]) {
      const answer = await call('PUT', `/v3/gn/pix/${aSend().idEnvio}`, { ...order, favorecido });
      expect(answer).toMatchObject(problem(400, 'RequisicaoInvalida'));
    }
  });
});

describe('a control character or a lone surrogate', () => {
  const { txid } = aCharge();

  it.each<[string, string, object?]>([
    ['GET', '/v2/pix/E1%00'],
    ['GET', '/v2/gn/pix/enviados/%00'],
    ['GET', '/v2/webhook/%0A'],
    ['GET', '/v2/pix?inicio=2020-01-01T00:00:00Z&fim=2020-01-02T00:00:00Z&x=%00'],
    ['PUT', `/v2/cob/${txid}`, { ...BODY, solicitacaoPagador: 'a\0b' }],
    ['PUT', `/v2/cob/${txid}`, { ...BODY, solicitacaoPagador: 'a\u007fb' }],
    ['PUT', `/v2/cob/${txid}`, { ...BODY, devedor: { cpf: '52998224725', nome: 'a\ud800' } }],
    ['PUT', `/v2/cob/${txid}`, { ...BODY, 'other\0': [{ deep: '\u0001' }] }],
    ['PUT', '/v2/pix/E1/devolucao/r1', { valor: '1.00', descricao: '\u0000' }],
    ['PUT', `/v2/webhook/${TEST_ACCOUNT.pixKey}`, { webhookUrl: 'http://a.example/\0' }],
    ['PUT', '/v3/gn/pix/a1', { valor: '1.00', favorecido: { chave: 'a\0' } }],
    ['POST', '/v2/gn/webhook/reenviar', { tipo: 'PIX_RECEBIDO', e2eids: ['\0'] }],
  ])('is 400 in %s %s %j', async (method, path, body) => {
    expect(await call(method, path, body)).toMatchObject(problem(400, 'RequisicaoInvalida'));
  });

  it('is 400 however a fault script looks for whom it is about, and NUL is in the control API', async () => {
    const only = { pix_key: 'x' };
    const rules = [{ operation: 'sendPayout', fault: 'refusal', only }];
    await simulator.call('PUT', '/control/faults', { rules });
    const answer = await call('PUT', '/v3/gn/pix/a1', { favorecido: { chave: '\0' } });
    expect(answer).toMatchObject(problem(400, 'RequisicaoInvalida'));
    const broken = { rules: [{ ...rules[0], only: { pix_key: '\0' } }] };
    expect((await simulator.call('PUT', '/control/faults', broken)).status).toBe(400);
    const worded = { rules: [{ ...rules[0], message: 'two\nlines' }] };
    expect((await simulator.call('PUT', '/control/faults', worded)).status).toBe(200);
    await simulator.call('DELETE', '/control/faults');
  });
});

describe('a fault of a call that the Central Bank describes', () => {
  it.each([
    ['issueCharge', 'refusal', { status: 422, code: 'Outro', message: 'x' }, 422, 'Outro'],
    ['issueCharge', 'refusal', {}, 400, 'documento_bloqueado'],
    ['issueCharge', 'error_before', { status: 503 }, 503, 'ServicoIndisponivel'],
    ['issueCharge', 'error_before', { status: 504 }, 504, 'IndisponibilidadePorTempoEsgotado'],
    ['issueCharge', 'error_before', { status: 403 }, 403, 'ErroInternoDoServidor'],
    ['issueCharge', 'error_before', { code: 'Outro' }, 500, 'Outro'],
    ['issueCharge', 'error_after', {}, 500, 'ErroInternoDoServidor'],
  ])('%s %s %j answers %i %s in its form', async (operation, fault, words, status, name) => {
    const rules = [{ operation, fault, ...words, count: 1 }];
    await simulator.call('PUT', '/control/faults', { rules });
    const { txid } = aCharge();
    const answer = await call('PUT', `/v2/cob/${txid}`, BODY);
    expect(answer).toMatchObject(problem(status, name));
    expect(answer.body).toMatchObject({ title: expect.any(String), detail: expect.any(String) });
  });
});

describe('the profile of Efí', () => {
  it('accepts a refund of R$ 0.01 and rejects it, and does one of R$ 0.02', async () => {
    const { endToEndId } = await aPaidCharge(simulator);
    await simulator.call('PUT', '/control/profile', { name: 'efi' });
    const path = `/v2/pix/${endToEndId}/devolucao`;
    for (const [valor, status] of [
      ['0.01', 'NAO_REALIZADO'],
      ['0.02', 'DEVOLVIDO'],
    ] as const) {
      const id = `r${status.length}`;
      const accepted = await call('PUT', `${path}/${id}`, { valor });
      expect(accepted).toMatchObject({ status: 201, body: { status: 'EM_PROCESSAMENTO' } });
      await eventually(async () =>
        expect((await call('GET', `${path}/${id}`)).body).toMatchObject({ status }),
      );
    }
    await simulator.call('PUT', '/control/profile', { name: 'manual' });
  });
});
