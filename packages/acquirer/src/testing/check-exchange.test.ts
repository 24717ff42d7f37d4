import { expect, test } from 'vitest';

import { checkExchange, checkRequest, type ObservedAnswer } from './check-exchange.ts';

const TXID = '7978c0c97ea847e78e8849634473c1f1';
const AT = '2026-11-21T13:04:05.678Z';
const CHARGE = {
  calendario: { criacao: AT, expiracao: 3600 },
  txid: TXID,
  revisao: 0,
  loc: { id: 1, location: 'a.example/1', tipoCob: 'cob', criacao: AT },
  status: 'ATIVA',
  valor: { original: '10.00' },
  chave: 'key',
};
const BODY = { calendario: { expiracao: 3600 }, valor: { original: '10.00' }, chave: 'key' };
const ISSUE = { method: 'PUT', url: `/v2/cob/${TXID}`, body: JSON.stringify(BODY) };

function answer(status: number, body: object, contentType = 'application/json'): ObservedAnswer {
  return { status, contentType, body: JSON.stringify(body), mayBeFault: false };
}

function problem(status: number, name: string, shown = status): ObservedAnswer {
  const type = `https://pix.bcb.gov.br/api/v2/error/${name}`;
  return answer(status, { type, title: 'x', status: shown }, 'application/problem+json');
}

const efi = (nome: string) => ({ nome, mensagem: 'x' });

test.each([
  ['a charge', answer(201, CHARGE)],
  ['its own problem', problem(400, 'CobOperacaoInvalida')],
  ['a problem of any operation', problem(503, 'ServicoIndisponivel')],
  ['a word of the dialect', answer(409, efi('txid_duplicado'))],
  ['a fault with a name of its own', { ...problem(418, 'Outro'), mayBeFault: true }],
])('%s is what issuing may answer', (_, observed) => {
  expect(checkExchange(ISSUE, observed)).toEqual([]);
});

test.each([
  ['a field that nobody knows', answer(201, { ...CHARGE, extra: 1 })],
  ['a field less', answer(201, { ...CHARGE, revisao: undefined })],
  ['an amount that is a number', answer(201, { ...CHARGE, valor: { original: 10 } })],
  ['another status of success', answer(200, CHARGE)],
  ['another media type', answer(201, CHARGE, 'text/plain')],
  ['a problem of another operation', problem(400, 'PixDevolucaoInvalida')],
  ['its own problem with another status', problem(404, 'CobOperacaoInvalida')],
  ['a status that its body denies', problem(503, 'ServicoIndisponivel', 500)],
  ['a word of Efí that is not in the dialect', answer(400, efi('outro'))],
  ['a fault in the form of Efí', { ...answer(400, efi('outro')), mayBeFault: true }],
  ['the envelope of the mesh', answer(400, { code: 'X', message: 'x', details: [] })],
])('%s is a deviation', (_, observed) => {
  expect(checkExchange(ISSUE, observed)).not.toEqual([]);
});

test.each([
  ['both documents', { devedor: { cpf: '52998224725', cnpj: '11222333000181', nome: 'x' } }],
  ['a free amount', { valor: { original: '10.00', modalidadeAlteracao: 1 } }],
  ['a location', { loc: { id: 1 } }],
  ['an amount with a comma', { valor: { original: '10,00' } }],
])('a request with %s may not be sent, nor be done', (_, change) => {
  const request = { ...ISSUE, body: JSON.stringify({ ...BODY, ...change }) };
  expect(checkRequest(request)).not.toEqual([]);
  expect(checkExchange(request, answer(201, CHARGE))).not.toEqual([]);
  expect(checkExchange(request, problem(400, 'CobOperacaoInvalida'))).toEqual([]);
});

test('an empty list without a page is a deviation, and so is a path that nobody describes', () => {
  const window = { inicio: AT, fim: AT };
  const request = { method: 'GET', url: `/v2/pix?inicio=${AT}&fim=${AT}`, body: '' };
  const listOf = (quantidadeDePaginas: number) => {
    const counts = { paginaAtual: 0, itensPorPagina: 100, quantidadeTotalDeItens: 0 };
    const parametros = { ...window, paginacao: { ...counts, quantidadeDePaginas } };
    return answer(200, { parametros, pix: [] });
  };
  expect(checkExchange(request, listOf(1))).toEqual([]);
  expect(checkExchange(request, listOf(0))).toHaveLength(1);
  expect(checkRequest({ ...request, url: '/v2/pix?inicio=x' })).toHaveLength(2);
  expect(checkExchange({ ...request, url: '/v2/other' }, answer(200, {}))).toHaveLength(1);
});
