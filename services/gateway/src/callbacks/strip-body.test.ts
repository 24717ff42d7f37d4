import { createHash } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { ITEMS_PER_BODY_MAX } from './split-body.ts';
import { isMostlyItems, itemsWithDigest } from './strip-body.ts';

/** An item as an acquirer writes it. */
const ITEM = {
  endToEndId: 'E12345678202611211200abcdef12345',
  txid: 'a'.repeat(32),
  valor: '10.00',
  chave: '8e0d2f9c-5d2c-4d5a-9f6a-0c7f3a1b2c3d',
  horario: '2026-11-21T12:00:00.000Z',
  infoPagador: 'pagamento do pedido à vista',
};

describe('a body is mostly its items', () => {
  test.each([1, 10, ITEMS_PER_BODY_MAX])(
    'where it holds %d genuine ones, also written wide',
    (n) => {
      const items = Array.from({ length: n }, () => ITEM);
      for (const space of [0, 2, '\t']) {
        const body = Buffer.from(JSON.stringify({ pix: items }, null, space));
        expect(isMostlyItems(body, items)).toBe(true);
      }
    },
  );

  test.each([
    ['padding', [ITEM], { pix: [ITEM], pad: 'x'.repeat(10_000) }],
    ['items that are not published', [ITEM], { pix: Array.from({ length: 100 }, () => ITEM) }],
    ['white space', [ITEM], `{"pix":[${JSON.stringify(ITEM)}${' '.repeat(10_000)}]}`],
  ])('and not where more of it is %s', (_what, items, body) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    expect(isMostlyItems(Buffer.from(text), items)).toBe(false);
  });
});

test('without the rest the items are left, and the digest of what came', () => {
  const came = Buffer.from(JSON.stringify({ pix: [ITEM, null], pad: 'x' }));
  const { body, sha256 } = itemsWithDigest(came, [ITEM]);
  expect(JSON.parse(body.toString())).toEqual({ pix: [ITEM] });
  expect(sha256).toEqual(createHash('sha256').update(came).digest());
});
