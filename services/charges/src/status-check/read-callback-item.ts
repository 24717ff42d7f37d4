import { type ChargeId, fromAcquirerId, readEndToEndId } from '@pixmesh/kernel/ids';

import type { NamedByCallback } from './callback-checks.sql.ts';

/** What an item of a callback names; anything else in it proves nothing, whatever its shape. */
export function readCallbackItem(
  item: Readonly<Record<string, unknown>>,
): Omit<NamedByCallback, 'traceparent'> {
  const { txid, endToEndId } = item;
  return {
    chargeId: typeof txid === 'string' ? fromAcquirerId<ChargeId>(txid) : null,
    endToEndId: readEndToEndId(endToEndId),
  };
}
