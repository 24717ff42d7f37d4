import { parseJsonBody } from '@pixmesh/kernel/json-body';

import { type CallbackItem, looksLikeItem } from './classify-item.ts';

/**
 * Items taken from one body, each of them a message; a PSP groups a few dozen at most. Status checks find the rest.
 */
export const ITEMS_PER_BODY_MAX = 100;

export type CallbackBody =
  | { kind: 'unreadable' }
  /** `skipped` counts what stood in the body and is no item, or one too many. */
  | { kind: 'items'; items: CallbackItem[]; skipped: number };

/**
 * Splits a body into its items: `{"pix": [item, …]}`, or one item by itself. Items are independent: one that
 * is no object does not block the others (decision 216).
 */
export function splitBody(bytes: Uint8Array): CallbackBody {
  const body = parseJsonBody(bytes);
  if (body.kind === 'invalid') return { kind: 'unreadable' };
  const listed = body.value['pix'];
  if (listed === undefined) {
    return { kind: 'items', items: looksLikeItem(body.value) ? [body.value] : [], skipped: 0 };
  }
  if (!Array.isArray(listed)) return { kind: 'unreadable' };
  const items = listed.filter(isItem).slice(0, ITEMS_PER_BODY_MAX);
  return { kind: 'items', items, skipped: listed.length - items.length };
}

function isItem(value: unknown): value is CallbackItem {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
