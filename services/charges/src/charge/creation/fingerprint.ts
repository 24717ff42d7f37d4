import { createHash } from 'node:crypto';

import type { ChargeOrder } from './check-charge-body.ts';

/**
 * Digest of what a body means: key order, unknown fields, masks and spelled-out defaults do not count, and
 * the secret is in it by its own digest only (decision 44).
 */
export function fingerprintOf(order: ChargeOrder, defaultExpiresIn: number): Buffer {
  const meaning = [
    String(order.amount),
    order.description,
    order.reference,
    order.customer.name,
    order.customer.email,
    order.customer.document,
    order.customer.phone,
    order.expiresIn ?? defaultExpiresIn,
    order.webhookUrl,
    order.webhookSecret === null ? null : digest(order.webhookSecret).toString('hex'),
  ];
  return digest(JSON.stringify(meaning));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
