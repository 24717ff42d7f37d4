import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { createExcerpt, EXCERPT_BYTES_MAX } from './excerpt.ts';

test('a body is kept whole up to the bound, also where a character is cut between chunks', () => {
  const [first, second] = [Buffer.from('aç').subarray(0, 2), Buffer.from('aç').subarray(2)];
  expect(excerptOf([first, second, Buffer.from('ão')])).toBe('ação');
  expect(excerptOf([])).toBe('');
});

test('a body of exactly the bound is kept whole, and nothing beyond it', () => {
  const whole = Buffer.alloc(EXCERPT_BYTES_MAX, 'x');
  expect(excerptOf([whole])).toBe('x'.repeat(EXCERPT_BYTES_MAX));
  expect(excerptOf([whole, Buffer.from('y')])).toBe('x'.repeat(EXCERPT_BYTES_MAX));
  expect(excerptOf([Buffer.from('y'), whole])).toBe(`y${'x'.repeat(EXCERPT_BYTES_MAX - 1)}`);
});

test('it answers from the bound on that it takes no more', () => {
  const excerpt = createExcerpt();
  expect(excerpt.add(Buffer.alloc(EXCERPT_BYTES_MAX - 1))).toBe(true);
  expect(excerpt.add(Buffer.alloc(1))).toBe(false);
  expect(excerpt.add(Buffer.alloc(1))).toBe(false);
});

test('however a body is cut into chunks, its beginning is the same', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 12 });
  fc.assert(
    fc.property(chunks, (parts) => {
      const buffers = parts.map((part) => Buffer.from(part));
      expect(excerptOf(buffers)).toBe(excerptOf([Buffer.concat(buffers)]));
    }),
  );
});

test('text that grows by replacement characters still fits the bound', () => {
  const excerpt = excerptOf([Buffer.alloc(EXCERPT_BYTES_MAX, 0xff)]);
  expect(Buffer.byteLength(excerpt)).toBeLessThanOrEqual(EXCERPT_BYTES_MAX);
  expect(excerpt).toMatch(/^\uFFFD+$/);
});

test('NUL and bytes that are no text show as replacement characters', () => {
  expect(excerptOf([Buffer.from([0x61, 0x00, 0xff, 0x62])])).toBe('a\uFFFD\uFFFDb');
});

function excerptOf(chunks: Buffer[]): string {
  const excerpt = createExcerpt();
  for (const chunk of chunks) excerpt.add(chunk);
  return excerpt.text();
}
