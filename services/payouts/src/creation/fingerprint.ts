import { createHash } from 'node:crypto';

import type { PayoutOrder } from './check-payout-body.ts';

/**
 * Digest of what a body means: key order, unknown fields, masks and spelled-out defaults do not count, and the
 * secret is in it by its own digest only (decision 44). A key counts in its canonical form.
 */
export function fingerprintOf(order: PayoutOrder): Buffer {
  const meaning = [
    String(order.amount),
    order.pixKeyType,
    order.pixKeyCanonical,
    order.recipientName,
    order.recipientDocument,
    order.description,
    order.reference,
    order.webhookUrl,
    order.webhookSecret === null ? null : digest(order.webhookSecret).toString('hex'),
  ];
  return digest(JSON.stringify(meaning));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
