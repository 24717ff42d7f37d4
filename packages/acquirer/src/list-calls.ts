import type { z } from 'zod';

import type {
  AcquirerDispute,
  AcquirerPayout,
  ListWindow,
  PageOutcome,
  ReceivedPix,
} from './acquirer.ts';
import {
  DisputeListAnswer,
  type Pagination,
  ReceivedListAnswer,
  SentListAnswer,
} from './answer-schemas.ts';
import { type CallAcquirer, UNREADABLE } from './call-acquirer.ts';
import { toDispute } from './dispute-calls.ts';
import { toReceivedPix } from './read-answer.ts';
import { toAcquirerPayout } from './read-sent.ts';

/** The most that API Pix gives at once. */
export const PAGE_ITEMS_MAX = 1_000;
/** A full page of Pix with room for a few returns each. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

type List<Item, Value> = {
  operation: 'listSent' | 'listReceived' | 'listDisputes';
  path: string;
  schema: z.ZodType<{ pagination: Pagination['paginacao']; items: Item[] }>;
  toValue: (item: Item) => Value;
};

/** What was sent in a window, by the time of the order. */
export async function listSent(
  call: CallAcquirer,
  window: ListWindow,
  signal: AbortSignal | undefined,
): Promise<PageOutcome<AcquirerPayout>> {
  return await listPage(call, window, {
    operation: 'listSent',
    path: '/v2/gn/pix/enviados',
    schema: SentListAnswer,
    toValue: toAcquirerPayout,
    signal,
  });
}

/** What was received in a window, by the time of the payment. */
export async function listReceived(
  call: CallAcquirer,
  window: ListWindow,
  signal: AbortSignal | undefined,
): Promise<PageOutcome<ReceivedPix>> {
  return await listPage(call, window, {
    operation: 'listReceived',
    path: '/v2/pix',
    schema: ReceivedListAnswer,
    toValue: toReceivedPix,
    signal,
  });
}

/** What was contested, by the time of its opening. */
export async function listDisputes(
  call: CallAcquirer,
  window: ListWindow,
  signal: AbortSignal | undefined,
): Promise<PageOutcome<AcquirerDispute>> {
  return await listPage(call, window, {
    operation: 'listDisputes',
    path: '/v2/gn/infracoes',
    schema: DisputeListAnswer,
    toValue: toDispute,
    signal,
  });
}

async function listPage<Item, Value>(
  call: CallAcquirer,
  window: ListWindow,
  list: List<Item, Value> & { signal: AbortSignal | undefined },
): Promise<PageOutcome<Value>> {
  const { operation, path, signal } = list;
  const result = await call({
    operation,
    method: 'GET',
    path: `${path}?${windowQuery(window)}`,
    answerBytesMax: PAGE_BYTES_MAX,
    signal,
  });
  if (result.kind === 'unknown') return result;
  if (result.kind !== 'done') return UNREADABLE;
  const { data: answer } = list.schema.safeParse(result.body);
  if (answer === undefined) return UNREADABLE;
  const hasMore = hasMorePages(answer.pagination, window.page, answer.items.length);
  if (hasMore === null) return UNREADABLE;
  return { kind: 'page', items: answer.items.map(list.toValue), hasMore };
}

function windowQuery(window: ListWindow): string {
  return new URLSearchParams({
    inicio: window.from.toISOString(),
    fim: window.to.toISOString(),
    'paginacao.paginaAtual': String(window.page),
    'paginacao.itensPorPagina': String(PAGE_ITEMS_MAX),
  }).toString();
}

/** Null for another page than asked for, and for one that ought to be full and is not: it hides something. */
function hasMorePages(
  pagination: Pagination['paginacao'],
  page: number,
  items: number,
): boolean | null {
  if (pagination.paginaAtual !== page) return null;
  const hasMore = page + 1 < pagination.quantidadeDePaginas;
  return hasMore && items < pagination.itensPorPagina ? null : hasMore;
}
