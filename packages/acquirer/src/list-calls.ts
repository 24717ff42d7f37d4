import type { z } from 'zod';

import type {
  AcquirerDispute,
  AcquirerPayout,
  CallOptions,
  PageOutcome,
  ReceivedPix,
  ReceivedWindow,
} from './acquirer.ts';
import {
  DisputeAnswer,
  ListAnswer,
  type Pagination,
  ReceivedPixAnswer,
  SentPixAnswer,
} from './answer-schemas.ts';
import { type CallAcquirer, UNREADABLE } from './call-acquirer.ts';
import { toDispute } from './dispute-calls.ts';
import { observeUnreadable } from './observe-call.ts';
import { toReceivedPix } from './read-answer.ts';
import { readItems } from './read-items.ts';
import { toAcquirerPayout } from './read-sent.ts';

/** The most that API Pix gives at once. */
export const PAGE_ITEMS_MAX = 1_000;
/** A full page of Pix with room for a few returns each. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

type List<Item, Value> = {
  operation: 'listSent' | 'listReceived' | 'listDisputes';
  path: string;
  /** The field that holds the items, and what one of them looks like. */
  name: 'pix' | 'infracoes';
  schema: z.ZodType<Item>;
  toValue: (item: Item) => Value;
};

/** What was sent in a window, by the time of the order. */
export const SENT: List<SentPixAnswer, AcquirerPayout> = {
  operation: 'listSent',
  path: '/v2/gn/pix/enviados',
  name: 'pix',
  schema: SentPixAnswer,
  toValue: toAcquirerPayout,
};

/** What was received in a window, by the time of the payment. */
export const RECEIVED: List<ReceivedPixAnswer, ReceivedPix> = {
  operation: 'listReceived',
  path: '/v2/pix',
  name: 'pix',
  schema: ReceivedPixAnswer,
  toValue: toReceivedPix,
};

/** What was contested, by the time of its opening. */
export const DISPUTES: List<DisputeAnswer, AcquirerDispute> = {
  operation: 'listDisputes',
  path: '/v2/gn/infracoes',
  name: 'infracoes',
  schema: DisputeAnswer,
  toValue: toDispute,
};

/** Lists what falls into a window, one page at a time. */
export function listing<Item, Value>(call: CallAcquirer, list: List<Item, Value>) {
  return async (window: ReceivedWindow, options?: CallOptions): Promise<PageOutcome<Value>> => {
    const result = await call({
      operation: list.operation,
      method: 'GET',
      path: `${list.path}?${windowQuery(window)}`,
      answerBytesMax: PAGE_BYTES_MAX,
      options,
    });
    if (result.kind === 'unknown') return result;
    return result.kind === 'done' ? readPage(list, result.body, window.page) : UNREADABLE;
  };
}

function readPage<Item, Value>(
  list: List<Item, Value>,
  body: unknown,
  page: number,
): PageOutcome<Value> {
  const { data: answer } = ListAnswer.safeParse(body);
  const listed = answer?.[list.name];
  if (answer === undefined || !Array.isArray(listed)) return UNREADABLE;
  const hasMore = hasMorePages(answer.parametros.paginacao, page, listed.length);
  if (hasMore === null) return UNREADABLE;
  const { items, unreadable } = readItems(list.schema, listed);
  observeUnreadable(list.operation, unreadable.length);
  return { kind: 'page', items: items.map(list.toValue), unreadable, hasMore };
}

function windowQuery(window: ReceivedWindow): string {
  return new URLSearchParams({
    inicio: window.from.toISOString(),
    fim: window.to.toISOString(),
    'paginacao.paginaAtual': String(window.page),
    'paginacao.itensPorPagina': String(PAGE_ITEMS_MAX),
    ...(window.returnedOnly && { devolucaoPresente: 'true' }),
  }).toString();
}

/** Null for another page than asked for, and for one that ought to be full and is not: it hides something. */
function hasMorePages(pagination: Pagination, page: number, items: number): boolean | null {
  if (pagination.paginaAtual !== page) return null;
  const hasMore = page + 1 < pagination.quantidadeDePaginas;
  return hasMore && items < pagination.itensPorPagina ? null : hasMore;
}
