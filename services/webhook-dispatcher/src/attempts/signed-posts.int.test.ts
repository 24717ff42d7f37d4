import { readFileSync } from 'node:fs';

import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createExchange, type Exchange } from '#exchange/exchange.ts';
import { type Receiver, startReceiver } from '#test/start-receiver.ts';

import { deliveryHeaders } from './delivery-headers.ts';

type Row = {
  id: string;
  why: string;
  key_utf8?: string | null;
  key_hex?: string;
  body_utf8?: string;
  body_hex?: string;
  hex?: string;
  header: string | null;
  expect: 'accept' | 'reject' | 'absent';
};

const ID = '0b9f2c1e-8a57-4f0e-9a35-6d2f9c4b7a10';
const ROWS = 30;
const file = new URL('../../../../packages/kernel/vectors/hmac.json', import.meta.url);
const rows = JSON.parse(readFileSync(file, 'utf8')) as Row[];
/** Secrets are texts. Two keys of the RFC are no UTF-8, so no secret can be one. */
const sendable = rows.filter((row) => secretOf(row) !== undefined);

let receiver: Receiver;
let exchange: Exchange;

beforeAll(async () => {
  receiver = await startReceiver();
  exchange = createExchange({
    timeoutMs: 5_000,
    resolveName: async () => [],
    devReceivers: [
      { pattern: '*.receiver.example.com', target: { address: '127.0.0.1', port: receiver.port } },
    ],
    isForbiddenAddress: () => false,
  });
});
afterAll(async () => {
  await exchange[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

describe.each(sendable)('$id ($why)', (row) => {
  test('the receiver gets the exact bytes with the stated signature, and verifies as stated', async () => {
    const secret = secretOf(row) ?? null;
    const body = bodyOf(row);
    const headers = deliveryHeaders({ id: ID, event: 'charge.pix.paid', body, secret });
    const url = 'http://shop.receiver.example.com/hook';
    expect((await exchange.post({ url, headers, body })).outcome).toBe('succeeded');
    const received = receiver.requests.at(-1)!;
    expect(received.body.equals(body)).toBe(true);
    const signature = received.headers['x-webhook-signature'];
    if (secret === null) {
      expect(row.expect).toBe('absent');
      expect(received.rawHeaders.join().toLowerCase()).not.toContain('signature');
      return;
    }
    expect(signature).toBe(`sha256=${row.hex}`);
    expect(verifyWebhookSignature(secret, received.body, String(signature))).toBe(true);
    // What an accepting row states is what was sent; anything else is refused.
    expect(row.header === signature).toBe(row.expect === 'accept');
    expect(verifyWebhookSignature(secret, received.body, row.header)).toBe(row.expect === 'accept');
  });
});

test('every row is sent, but for the keys that no text can be', () => {
  const others = rows.filter((row) => !sendable.includes(row)).map(({ id }) => id);
  process.stdout.write(
    `hmac.json: ${sendable.length} of ${rows.length} rows sent, not ${others.join(', ')}\n`,
  );
  expect(rows).toHaveLength(ROWS);
  expect(others).toEqual(['hmac-03', 'hmac-04']);
});

function secretOf(row: Row): string | null | undefined {
  if (row.key_hex === undefined) return row.key_utf8;
  const key = Buffer.from(row.key_hex, 'hex');
  return Buffer.from(key.toString()).equals(key) ? key.toString() : undefined;
}

function bodyOf(row: Row): Buffer {
  if (row.body_hex !== undefined) return Buffer.from(row.body_hex, 'hex');
  return Buffer.from(row.body_utf8 ?? '');
}
