import { AppError } from '@pixmesh/kernel/app-error';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readIdempotencyKey, readOptionalIdempotencyKey } from './read-idempotency-key.ts';

const REQUIRED = { code: 'IDEMPOTENCY_KEY_REQUIRED', details: [] };
const INVALID = { code: 'VALIDATION_ERROR', details: ['Idempotency-Key'] };

describe('the Idempotency-Key of a creation', () => {
  test.each([
    { name: 'missing', sent: [], expected: REQUIRED },
    { name: 'empty', sent: ['Idempotency-Key', ''], expected: REQUIRED },
    { name: 'blank', sent: ['Idempotency-Key', '          '], expected: REQUIRED },
    { name: '7 characters', sent: ['Idempotency-Key', '1234567'], expected: REQUIRED },
    { name: '256 characters', sent: ['Idempotency-Key', 'k'.repeat(256)], expected: INVALID },
    { name: 'not ASCII', sent: ['Idempotency-Key', 'chave-não-ascii'], expected: INVALID },
    { name: 'a tab inside', sent: ['Idempotency-Key', 'with\ttab'], expected: INVALID },
    {
      name: 'repeated',
      sent: ['Idempotency-Key', 'key-00001', 'idempotency-key', 'key-00001'],
      expected: INVALID,
    },
    {
      name: 'repeated, one of them empty',
      sent: ['Idempotency-Key', 'key-00001', 'idempotency-key', ''],
      expected: INVALID,
    },
  ])('$name is refused', ({ sent, expected }) => {
    expect(() => readIdempotencyKey(sent)).toThrow(expect.objectContaining(expected) as AppError);
  });

  test.each(['12345678', 'k'.repeat(255), '"quoted!"', 'a, b, c, d', 'ABCDEFGH'])(
    'is taken as it stands: %s',
    (key) => {
      expect(readIdempotencyKey(['Idempotency-Key', key])).toBe(key);
    },
  );

  test('8 to 255 printable ASCII characters are opaque, whatever they are', () => {
    const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.string({ unit: printable, minLength: 8, maxLength: 255 }), (key) => {
        expect(readIdempotencyKey(['Idempotency-Key', key])).toBe(key);
      }),
    );
  });

  test('may be left out where it is optional, but not be wrong', () => {
    expect(readOptionalIdempotencyKey([])).toBeNull();
    expect(() => readOptionalIdempotencyKey(['Idempotency-Key', 'short'])).toThrow(AppError);
  });
});
