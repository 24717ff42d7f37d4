import { type ChargeId, fromAcquirerId } from '@pixmesh/kernel/ids';

import type { NamedByCallback } from './callback-checks.sql.ts';

/** Real end-to-end ids deviate from their pattern; what is stored of them is bounded (Pix, identifiers). */
const END_TO_END_ID = /^[\x21-\x7e]{1,64}$/;

/** What an item of a callback names; anything else in it proves nothing, whatever its shape. */
export function readCallbackItem(
  item: Readonly<Record<string, unknown>>,
): Omit<NamedByCallback, 'traceparent'> {
  const { txid, endToEndId } = item;
  return {
    chargeId: typeof txid === 'string' ? fromAcquirerId<ChargeId>(txid) : null,
    endToEndId: isEndToEndId(endToEndId) ? endToEndId : null,
  };
}

function isEndToEndId(value: unknown): value is string {
  return typeof value === 'string' && END_TO_END_ID.test(value);
}
