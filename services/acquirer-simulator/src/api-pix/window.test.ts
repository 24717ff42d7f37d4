import { describe, expect, it } from 'vitest';

import { type ProblemName, ProviderError } from './provider-error.ts';
import { describeWindow, readWindow } from './window.ts';

const query = { inicio: '2026-11-21T00:00:00Z', fim: '2026-11-21T21:00:00-03:00' };

function refusalOf(value: object, problem?: ProblemName): ProviderError {
  try {
    readWindow(value, problem);
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error('the window was taken');
}

describe('a window', () => {
  it('is read with its page, in any time zone', () => {
    expect(readWindow(query)).toEqual({
      from: new Date('2026-11-21T00:00:00Z'),
      to: new Date('2026-11-22T00:00:00Z'),
      page: 0,
      offset: 0,
      limit: 100,
    });
    const third = { 'paginacao.paginaAtual': '3', 'paginacao.itensPorPagina': '7' };
    expect(readWindow({ ...query, ...third })).toMatchObject({ page: 3, offset: 21, limit: 7 });
  });

  it('may be one moment', () => {
    expect(readWindow({ inicio: query.inicio, fim: query.inicio })).toMatchObject({ page: 0 });
  });

  it('that ends before it begins is refused in the words of API Pix, of its own lists in those of Efí', () => {
    const backwards = { inicio: query.fim, fim: query.inicio };
    const refusal = refusalOf(backwards, 'PixConsultaInvalida');
    expect(refusal.body).toMatchObject({ type: expect.stringMatching(/\/PixConsultaInvalida$/) });
    expect(refusalOf(backwards).body).toMatchObject({ nome: 'valor_invalido' });
  });

  it.each([
    ['inicio', { inicio: undefined }],
    ['fim', { fim: 'tomorrow' }],
    ['fim', { fim: '2026-11-21' }],
    ['inicio', { inicio: '0000-01-01T00:00:00Z' }],
    ['fim', { fim: '9999-12-31T23:59:59-03:00' }],
    ['paginacao.paginaAtual', { 'paginacao.paginaAtual': '-1' }],
    ['paginacao.paginaAtual', { 'paginacao.paginaAtual': '9'.repeat(9) }],
    ['paginacao.itensPorPagina', { 'paginacao.itensPorPagina': '0' }],
    ['paginacao.itensPorPagina', { 'paginacao.itensPorPagina': '1001' }],
    ['paginacao.itensPorPagina', { 'paginacao.itensPorPagina': 'all' }],
  ])('names %s in %j as wrong', (propriedade, change) => {
    expect(refusalOf({ ...query, ...change }).body).toMatchObject({
      violacoes: [{ propriedade }],
    });
  });

  it.each([
    [0, 1],
    [1, 1],
    [100, 1],
    [101, 2],
  ])('of %i items has %i pages of a hundred', (total, pages) => {
    expect(describeWindow(readWindow(query), total)).toEqual({
      inicio: '2026-11-21T00:00:00.000Z',
      fim: '2026-11-22T00:00:00.000Z',
      paginacao: {
        paginaAtual: 0,
        itensPorPagina: 100,
        quantidadeDePaginas: pages,
        quantidadeTotalDeItens: total,
      },
    });
  });
});
