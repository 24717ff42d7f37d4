import { describe, expect, test } from 'vitest';

import { ITEMS_PER_BODY_MAX, splitBody } from './split-body.ts';

const ITEM = { endToEndId: 'E1' };

function split(text: string | Buffer) {
  return splitBody(Buffer.from(text));
}

describe('a callback body', () => {
  test('gives each of its items', () => {
    const body = JSON.stringify({ pix: [ITEM, { txid: 't' }] });
    expect(split(body)).toEqual({ kind: 'items', items: [ITEM, { txid: 't' }], skipped: 0 });
  });

  test('may be one item by itself', () => {
    expect(split(JSON.stringify(ITEM))).toEqual({ kind: 'items', items: [ITEM], skipped: 0 });
  });

  test.each(['{}', '{"pix":[]}', '{"evento":"teste_webhook"}'])('may hold none: %s', (text) => {
    expect(split(text)).toEqual({ kind: 'items', items: [], skipped: 0 });
  });

  test('is not held up by what is no item', () => {
    const body = JSON.stringify({ pix: [null, 1, 'x', [ITEM], ITEM] });
    expect(split(body)).toEqual({ kind: 'items', items: [ITEM], skipped: 4 });
  });

  test('gives no more items than the limit, and counts the rest', () => {
    const body = JSON.stringify({
      pix: Array.from({ length: ITEMS_PER_BODY_MAX + 2 }, () => ITEM),
    });
    const result = split(body);
    expect(result).toMatchObject({ kind: 'items', skipped: 2 });
    expect(result.kind === 'items' && result.items.length).toBe(ITEMS_PER_BODY_MAX);
  });

  test.each([
    '',
    'null',
    '[]',
    '{"pix":',
    '{"pix":{}}',
    '{"pix":null}',
    `{"pix":[${'['.repeat(40)}${']'.repeat(40)}]}`,
    Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  ])('is unreadable: %s', (text) => {
    expect(split(text)).toEqual({ kind: 'unreadable' });
  });
});
