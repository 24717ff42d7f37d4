import { z } from 'zod';

import { efiError } from './provider-error.ts';
import { readShape } from './read-body.ts';

const ITEMS_DEFAULT = 100;
const ITEMS_MAX = 1_000;
const PAGE_MAX = 1_000_000;

const Instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const WindowQuery = z.object({
  inicio: Instant,
  fim: Instant,
  'paginacao.paginaAtual': z.coerce.number().int().min(0).max(PAGE_MAX).default(0),
  'paginacao.itensPorPagina': z.coerce.number().int().min(1).max(ITEMS_MAX).default(ITEMS_DEFAULT),
});

/** One page of a list; both ends of the window are part of it. */
export type Window = { from: Date; to: Date; page: number; offset: number; limit: number };

/** @throws ProviderError `RequisicaoInvalida`, or `valor_invalido` for a window that ends before it begins */
export function readWindow(value: unknown): Window {
  const query = readShape(WindowQuery, value);
  const { inicio: from, fim: to } = query;
  if (to < from) {
    const message = 'Campo de data fim deve ser maior ou igual ao campo de data inicio';
    throw efiError(400, 'valor_invalido', message);
  }
  const page = query['paginacao.paginaAtual'];
  const limit = query['paginacao.itensPorPagina'];
  return { from, to, page, offset: page * limit, limit };
}

/** `parametros` of a list. */
export function describeWindow(window: Window, total: number): object {
  return {
    inicio: window.from.toISOString(),
    fim: window.to.toISOString(),
    paginacao: {
      paginaAtual: window.page,
      itensPorPagina: window.limit,
      quantidadeDePaginas: Math.ceil(total / window.limit),
      quantidadeTotalDeItens: total,
    },
  };
}
