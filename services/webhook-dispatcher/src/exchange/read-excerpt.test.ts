import { Readable } from 'node:stream';

import { expect, test } from 'vitest';

import { EXCERPT_BYTES_MAX, readExcerpt } from './read-excerpt.ts';

test('a body is read whole up to the bound', async () => {
  expect(await readExcerpt(bodyOf([Buffer.from('a'), Buffer.from('ção')]))).toBe('ação');
});

test('nothing is asked for beyond the bound', async () => {
  let chunks = 0;
  const endless = Readable.from(
    (function* pour() {
      for (;;) {
        chunks += 1;
        yield Buffer.alloc(1024, 'x');
      }
    })(),
    { highWaterMark: 1 },
  );
  expect(await readExcerpt(endless)).toBe('x'.repeat(EXCERPT_BYTES_MAX));
  expect(chunks).toBeLessThan(20);
  expect(endless.destroyed).toBe(true);
});

test('text that grows by replacement characters still fits the bound', async () => {
  const excerpt = await readExcerpt(bodyOf([Buffer.alloc(EXCERPT_BYTES_MAX, 0xff)]));
  expect(Buffer.byteLength(excerpt)).toBeLessThanOrEqual(EXCERPT_BYTES_MAX);
  expect(excerpt).toMatch(/^\uFFFD+$/);
});

test('a body that breaks gives what came before', async () => {
  const broken = Readable.from(
    (async function* fail() {
      yield Buffer.from('begun');
      throw new Error('reset');
    })(),
  );
  expect(await readExcerpt(broken)).toBe('begun');
});

function bodyOf(chunks: Buffer[]): Readable {
  return Readable.from(chunks);
}
