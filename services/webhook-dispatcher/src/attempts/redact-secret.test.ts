import { describe, expect, test } from 'vitest';

import { EXCERPT_BYTES_MAX } from '#exchange/excerpt.ts';

import { redactSecret } from './redact-secret.ts';

const SECRET = 'whsec_0123456789';

describe('what is kept of an answer', () => {
  test.each([
    ['without the secret', 'all is well', 'all is well'],
    ['with it', `got ${SECRET}, and ${SECRET}`, 'got [redacted], and [redacted]'],
    ['that ends like it begins', 'well, show', 'well, show'],
  ])('%s', (_name, answer, kept) => {
    expect(redactSecret(answer, SECRET)).toBe(kept);
  });

  test('never grows beyond what is kept of any answer', () => {
    const kept = redactSecret('a'.repeat(EXCERPT_BYTES_MAX), 'a');
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(EXCERPT_BYTES_MAX);
    expect(kept).not.toContain('aa');
    const wide = redactSecret('ã'.repeat(EXCERPT_BYTES_MAX / 2), 'ã');
    expect(Buffer.byteLength(wide)).toBeLessThanOrEqual(EXCERPT_BYTES_MAX);
  });

  test.each([1, 5, SECRET.length - 1])('ends before %i characters of it at its cut', (length) => {
    const part = SECRET.slice(0, length);
    const before = '.'.repeat(EXCERPT_BYTES_MAX - length);
    expect(redactSecret(before + part, SECRET)).toBe(before);
  });

  test('ends before a part of it that is cut within a character', () => {
    const secret = 'chave-ção-1';
    const part = `chave-\uFFFD`;
    const before = '.'.repeat(EXCERPT_BYTES_MAX - Buffer.byteLength(part));
    expect(redactSecret(before + part, secret)).toBe(before);
  });
});
