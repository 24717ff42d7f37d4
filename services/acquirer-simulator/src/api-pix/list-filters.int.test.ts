import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  aCharge,
  startTestSimulator,
  TEST_ACCOUNT,
  type TestSimulator,
} from '#test/test-simulator.ts';

const ANA = { cpf: '52998224725', nome: 'Ana' };
const ACME = { cnpj: '11222333000181', nome: 'ACME' };
const WINDOW = 'inicio=2020-01-01T00:00:00Z&fim=2099-01-01T00:00:00Z';

let database: TestDatabase;
let simulator: TestSimulator;
let headers: { authorization: string };
/** Names of what the lists may show, by the ids that they show it under. */
const names = new Map<string, string>();

beforeAll(async () => {
  database = await createTestDatabase('acquirer_simulator');
  simulator = await startTestSimulator(database.url);
  headers = { authorization: `Bearer ${await simulator.token()}` };
  const ana = await issue('ana', ANA);
  const acme = await issue('acme', ACME);
  await issue('nobody');
  await pay(ana, 'by ana');
  await pay(acme, 'by acme');
  const [first] = await findPix('by ana');
  await simulator.call('POST', `/control/pix/${first}/returns`, { amount: 1 });
  const foreign = { amount: 5, txid: 'static1' };
  const named = await simulator.call('POST', '/control/pix', foreign);
  names.set(String(named.body['end_to_end_id']), 'static');
  const bare = await simulator.call('POST', '/control/pix', { amount: 5 });
  names.set(String(bare.body['end_to_end_id']), 'bare');
  const removal = JSON.stringify({ status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' });
  const removed = await issue('removed', ANA);
  await fetch(`${simulator.url}/v2/cob/${removed}`, { method: 'PATCH', headers, body: removal });
});

afterAll(async () => {
  await simulator[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function issue(name: string, devedor?: object): Promise<string> {
  const { txid } = aCharge();
  const charge = { calendario: {}, valor: { original: '10.00' }, chave: TEST_ACCOUNT.pixKey };
  const body = JSON.stringify({ ...charge, ...(devedor && { devedor }) });
  const answer = await fetch(`${simulator.url}/v2/cob/${txid}`, { method: 'PUT', headers, body });
  expect(answer.status).toBe(201);
  names.set(txid, name);
  return txid;
}

async function pay(txid: string, name: string): Promise<void> {
  const { body } = await simulator.call('POST', `/control/charges/${txid}/pay`);
  names.set(String(body['end_to_end_id']), name);
}

async function findPix(name: string): Promise<string[]> {
  return [...names].filter(([, known]) => known === name).map(([id]) => id);
}

type Listed = { txid?: string; endToEndId?: string };

async function list(kind: 'cob' | 'pix', filter: string) {
  const answer = await fetch(`${simulator.url}/v2/${kind}?${WINDOW}${filter}`, { headers });
  const body = (await answer.json()) as Record<string, unknown>;
  const items = (body[kind === 'cob' ? 'cobs' : 'pix'] ?? []) as Listed[];
  const shown = items.map(({ endToEndId, txid }) => names.get(endToEndId ?? txid ?? ''));
  return { status: answer.status, body, shown };
}

describe('the list of charges', () => {
  it.each([
    ['', ['ana', 'acme', 'nobody', 'removed']],
    [`&cpf=${ANA.cpf}`, ['ana', 'removed']],
    [`&cnpj=${ACME.cnpj}`, ['acme']],
    ['&cpf=00000000000', []],
    ['&status=ATIVA', ['nobody']],
    ['&status=CONCLUIDA', ['ana', 'acme']],
    [`&cpf=${ANA.cpf}&status=REMOVIDA_PELO_USUARIO_RECEBEDOR`, ['removed']],
    ['&locationPresente=true&status=ATIVA', ['nobody']],
    ['&locationPresente=false', []],
    ['&paginacao.itensPorPagina=1&paginacao.paginaAtual=1', ['acme']],
  ])('filtered by %j shows %j', async (filter, expected) => {
    const { status, shown } = await list('cob', filter);
    expect({ status, shown }).toEqual({ status: 200, shown: expected });
  });
});

describe('the list of received Pix', () => {
  it.each([
    ['', ['by ana', 'by acme', 'static', 'bare']],
    ['&txid=static1', ['static']],
    ['&txid=unknown', []],
    ['&txIdPresente=true', ['by ana', 'by acme', 'static']],
    ['&txIdPresente=false', ['bare']],
    ['&devolucaoPresente=true', ['by ana']],
    ['&devolucaoPresente=false', ['by acme', 'static', 'bare']],
    [`&cpf=${ANA.cpf}`, ['by ana']],
    [`&cnpj=${ACME.cnpj}`, ['by acme']],
    [`&cnpj=${ACME.cnpj}&devolucaoPresente=true`, []],
  ])('filtered by %j shows %j', async (filter, expected) => {
    const { status, shown } = await list('pix', filter);
    expect({ status, shown }).toEqual({ status: 200, shown: expected });
  });
});

describe('any of the two lists', () => {
  const BOTH = `&cpf=${ANA.cpf}&cnpj=${ACME.cnpj}`;

  it.each([
    ['cob', BOTH, 'CobConsultaInvalida'],
    ['pix', BOTH, 'PixConsultaInvalida'],
    ['cob', '&cpf=1', 'CobConsultaInvalida'],
    ['pix', '&cnpj=x', 'PixConsultaInvalida'],
    ['pix', '&txIdPresente=1', 'PixConsultaInvalida'],
    ['pix', '&txid=a-b', 'PixConsultaInvalida'],
    ['cob', '&locationPresente=', 'CobConsultaInvalida'],
    ['pix', '&txid=a&txid=b', 'PixConsultaInvalida'],
  ] as const)('refuses %s %s as %s', async (kind, filter, name) => {
    const { status, body } = await list(kind, filter);
    expect(status).toBe(400);
    expect(body['type']).toBe(`https://pix.bcb.gov.br/api/v2/error/${name}`);
  });

  it('repeats its filters, and has one page when it is empty', async () => {
    const { body } = await list('pix', '&txid=unknown&devolucaoPresente=false');
    expect(body['parametros']).toMatchObject({
      txid: 'unknown',
      devolucaoPresente: false,
      paginacao: { quantidadeDePaginas: 1, quantidadeTotalDeItens: 0 },
    });
  });
});
