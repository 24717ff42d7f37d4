import { z } from 'zod';

import { apiPixError, efiError, type ProblemName } from './provider-error.ts';
import { readShape } from './read-body.ts';

const ITEMS_DEFAULT = 100;
const ITEMS_MAX = 1_000;
const PAGE_MAX = 1_000_000;

/** Postgres knows no year 0, and a year keeps its four digits in every zone. */
const EARLIEST_MS = new Date('0001-01-02T00:00:00Z').getTime();
const LATEST_MS = new Date('9999-12-30T00:00:00Z').getTime();

const Instant = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine((at) => at.getTime() >= EARLIEST_MS && at.getTime() <= LATEST_MS);
const WindowQuery = z.object({
  inicio: Instant,
  fim: Instant,
  'paginacao.paginaAtual': z.coerce.number().int().min(0).max(PAGE_MAX).default(0),
  'paginacao.itensPorPagina': z.coerce.number().int().min(1).max(ITEMS_MAX).default(ITEMS_DEFAULT),
});

/** One page of a list; both ends of the window are part of it. */
export type Window = { from: Date; to: Date; page: number; offset: number; limit: number };

/**
 * `problem` is what API Pix calls a broken query of that list; the lists that are Efí's own have none.
 * @throws ProviderError that problem, or in Efí's lists `RequisicaoInvalida`, and `valor_invalido` for a window that
 * ends before it begins
 */
export function readWindow(value: unknown, problem?: ProblemName): Window {
  const query = readShape(WindowQuery, value, problem);
  const { inicio: from, fim: to } = query;
  if (to < from) {
    const message = 'Campo de data fim deve ser maior ou igual ao campo de data inicio';
    if (problem === undefined) throw efiError(400, 'valor_invalido', message);
    const violacoes = [{ razao: message, propriedade: 'fim' }];
    throw apiPixError(problem, 400, { detail: message, violacoes });
  }
  const page = query['paginacao.paginaAtual'];
  const limit = query['paginacao.itensPorPagina'];
  return { from, to, page, offset: page * limit, limit };
}

/** `parametros` of a list, with the filters that were asked for. An empty list has one page. */
export function describeWindow(window: Window, total: number, filters: object = {}): object {
  return {
    inicio: window.from.toISOString(),
    fim: window.to.toISOString(),
    ...filters,
    paginacao: {
      paginaAtual: window.page,
      itensPorPagina: window.limit,
      quantidadeDePaginas: Math.max(1, Math.ceil(total / window.limit)),
      quantidadeTotalDeItens: total,
    },
  };
}
