import assert from 'node:assert';
import { readFileSync } from 'node:fs';

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import vectors from '../vectors/hmac.json' with { type: 'json' };
import { signWebhookBody, verifyWebhookSignature } from './webhook-signature.ts';

type Row = (typeof vectors)[number];
type Verify = (secret: string | Buffer, body: Buffer, header: string | null | undefined) => boolean;

/** Its sample is a module of its own; the part that prints is left out. */
const guide = readGuideVerifier();

async function readGuideVerifier(): Promise<{ isGenuine: Verify }> {
  const file = new URL('../../../docs/guides/merchants/receive-webhooks.md', import.meta.url);
  const [, source] =
    /```js sample=check-vector\.mjs\n(.*?\n}\n)/s.exec(readFileSync(file, 'utf8')) ?? [];
  assert(source !== undefined);
  return (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
    isGenuine: Verify;
  };
}

function keyOf(row: Row): string | Buffer {
  if (row.key_hex !== undefined) return Buffer.from(row.key_hex, 'hex');
  assert(typeof row.key_utf8 === 'string');
  return row.key_utf8;
}

function bodyOf(row: Row): Buffer {
  return row.body_hex === undefined
    ? Buffer.from(row.body_utf8 ?? '')
    : Buffer.from(row.body_hex, 'hex');
}

describe('vectors', () => {
  const signed = vectors.filter((row) => row.expect !== 'absent');

  test.each(signed)('$id $expect: $why', (row) => {
    const key = keyOf(row);
    expect(signWebhookBody(key, bodyOf(row))).toBe(`sha256=${row.hex}`);
    expect(verifyWebhookSignature(key, bodyOf(row), row.header)).toBe(row.expect === 'accept');
  });

  test('the one row without a key has no header, so it never reaches this file', () => {
    const unsigned = vectors.filter((row) => row.expect === 'absent');
    expect(unsigned.map((row) => [row.key_utf8, row.header])).toEqual([[null, null]]);
  });
});

test('the published example gives the published signature (decision 203)', () => {
  const body =
    '{"id":"0b9f2c1e-8a57-4f0e-9a35-6d2f9c4b7a10","object":"event","event":"charge.pix.paid"}';
  expect(signWebhookBody('whsec_test_0001', Buffer.from(body))).toBe(
    'sha256=86444521f200dd58c60da5b0de20548b6988fcaeb46c1ee5d7df4f44dd66db05',
  );
});

describe('verifyWebhookSignature', () => {
  test('a missing header is false', () => {
    expect(verifyWebhookSignature('secret', Buffer.from('{}'), undefined)).toBe(false);
  });

  test('accepts what was signed and never throws on any other header', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.uint8Array(),
        fc.string(),
        (key, body, header) => {
          const signature = signWebhookBody(key, body);
          expect(verifyWebhookSignature(key, body, signature)).toBe(true);
          expect(verifyWebhookSignature(key, body, header)).toBe(header === signature);
        },
      ),
    );
  });
});

describe('the verifier that the merchants’ guide shows', () => {
  test.each(vectors.filter((row) => row.expect !== 'absent'))('$id $expect: $why', async (row) => {
    const { isGenuine } = await guide;
    expect(isGenuine(keyOf(row), bodyOf(row), row.header)).toBe(row.expect === 'accept');
  });
});
