import { createHash } from 'node:crypto';

import type { CallbackItem } from './classify-item.ts';

/** How many times the size of its items a body may have: white space and escapes. */
const SPREAD_MAX = 2;
/** And what may stand beside them, of whatever kind. */
const BESIDE_ITEMS_BYTES_MAX = 4 * 1024;

/** Whether a body is little more than the items that are published of it, as every genuine one is. */
export function isMostlyItems(body: Buffer, published: readonly CallbackItem[]): boolean {
  return body.length <= SPREAD_MAX * bodyOf(published).length + BESIDE_ITEMS_BYTES_MAX;
}

/** What is stored of a body that is mostly something else: its items, and the digest of what came. */
export function itemsWithDigest(
  body: Buffer,
  published: readonly CallbackItem[],
): { body: Buffer; sha256: Buffer } {
  return { body: bodyOf(published), sha256: createHash('sha256').update(body).digest() };
}

function bodyOf(items: readonly CallbackItem[]): Buffer {
  return Buffer.from(JSON.stringify({ pix: items }));
}
