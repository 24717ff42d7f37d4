import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { generateApiKey, hashApiKey, parseApiKey } from './api-key.ts';

/** A fixed key: its checksum was computed once and must hold for as long as keys are in use. */
const KEY = 'pxm_0123456789ABabcdefghijklmnopqrstuvwxyzCD';

describe('generateApiKey', () => {
  test('gives prefix, public id, secret and checksum, and parses back', () => {
    const { key, publicId } = generateApiKey();
    expect(key).toMatch(/^pxm_[0-9A-Za-z]{46}$/);
    expect(key.slice(4, 16)).toBe(publicId);
    expect(parseApiKey(key)).toEqual({ publicId });
  });

  test('never repeats a public id or a secret', () => {
    const keys = Array.from({ length: 2000 }, generateApiKey);
    expect(new Set(keys.map(({ publicId }) => publicId)).size).toBe(keys.length);
    expect(new Set(keys.map(({ key }) => key.slice(16, 44))).size).toBe(keys.length);
  });

  test('uses the whole alphabet evenly', () => {
    const drawn = Array.from({ length: 2000 }, () => generateApiKey().key.slice(4, 44)).join('');
    const counts = new Map<string, number>();
    for (const character of drawn) counts.set(character, (counts.get(character) ?? 0) + 1);
    const expected = drawn.length / 62;
    const chiSquare = [...counts.values()]
      .map((count) => (count - expected) ** 2 / expected)
      .reduce((sum, term) => sum + term, 0);
    expect(counts.size).toBe(62);
    // 61 degrees of freedom: a fair source exceeds 140 less than once in ten million runs.
    expect(chiSquare).toBeLessThan(140);
  });
});

describe('parseApiKey', () => {
  const { key } = generateApiKey();

  test('the checksum is the CRC32 in six base62 digits, most significant first', () => {
    expect(parseApiKey(`${KEY}2UuHdi`)).toEqual({ publicId: '0123456789AB' });
  });

  test.each([
    ['', 'empty'],
    [key.slice(0, -1), 'one character short'],
    [`${key}0`, 'one character long'],
    [`${key}\n`, 'trailing line feed'],
    [` ${key}`, 'leading space'],
    [`${key}, ${key}`, 'header sent twice and joined'],
    [key.replace('pxm_', 'PXM_'), 'prefix in upper case'],
    [key.replace('pxm_', 'pxn_'), 'other prefix'],
    [`${key.slice(0, 20)}-${key.slice(21)}`, 'character outside base62'],
    [`${key.slice(0, 20)}é${key.slice(21)}`, 'character outside ASCII'],
    ['a'.repeat(1_000_000), 'hostile length'],
  ])('refuses %#: %s', (text) => {
    expect(parseApiKey(text)).toBeNull();
  });

  test('refuses every key with one changed character', () => {
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: 49 }),
        fc.constantFrom(...alphabet.split('')),
        (at, character) => {
          fc.pre(key[at] !== character);
          expect(parseApiKey(key.slice(0, at) + character + key.slice(at + 1))).toBeNull();
        },
      ),
    );
  });

  test('refuses two neighbours swapped', () => {
    const swaps = Array.from(
      { length: key.length - 5 },
      (_, at) => key.slice(0, at + 4) + key.charAt(at + 5) + key.charAt(at + 4) + key.slice(at + 6),
    );
    const accepted = swaps.filter((text) => text !== key && parseApiKey(text) !== null);
    expect(accepted).toEqual([]);
  });
});

describe('hashApiKey', () => {
  test('is HMAC-SHA-256 under the pepper (RFC 4231, case 2)', () => {
    expect(hashApiKey(Buffer.from('Jefe'), 'what do ya want for nothing?').toString('hex')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });
});
