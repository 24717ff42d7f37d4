import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The `X-Webhook-Signature` of a delivery: `sha256=` and the lower-case hexadecimal HMAC-SHA-256 of
 * the exact body bytes. A text secret counts as its UTF-8 bytes, never trimmed or decoded (decision 203).
 */
export function signWebhookBody(secret: string | Uint8Array, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/**
 * Whether `header` is the signature of `body`, compared in constant time. A missing header, another
 * length and upper-case digits are simply false; it never throws.
 */
export function verifyWebhookSignature(
  secret: string | Uint8Array,
  body: Uint8Array,
  header: string | null | undefined,
): boolean {
  const expected = Buffer.from(signWebhookBody(secret, body));
  const given = Buffer.from(header ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
