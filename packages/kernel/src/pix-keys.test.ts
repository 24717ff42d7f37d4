import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import vectors from '../vectors/documents.json' with { type: 'json' };
import { normalizePixKey, type PixKeyType } from './pix-keys.ts';

const TYPES: readonly PixKeyType[] = ['cpf', 'cnpj', 'email', 'phone', 'random'];

describe('vectors', () => {
  const rows = vectors
    .filter(({ kind }) => kind.startsWith('pix_'))
    .map((row) => ({ ...row, type: row.kind.slice('pix_'.length) as PixKeyType }));

  test('every type of key has rows', () => {
    expect(new Set(rows.map(({ type }) => type))).toEqual(new Set(TYPES));
  });

  test.each(rows)('$type $input: $note', ({ type, input, valid, normalized }) => {
    expect(normalizePixKey(type, input)).toBe(valid ? normalized : null);
  });
});

test.each([
  ['a trunk zero within eleven digits', '01133334444'],
  ['a trunk zero within ten digits', '0113333444'],
  ['a trunk zero after the country code', '5501133334444'],
  ['a number without its area code', '55987654321'.slice(2)],
  ['a tab between the digits', '11\t987654321'],
  ['a line feed at the end', '11987654321\n'],
  ['a plus inside', '11+987654321'],
  ['a plus and nothing dialled', '+5'],
])('%s is no phone number', (_name, text) => {
  expect(normalizePixKey('phone', text)).toBeNull();
});

test('a plus alone makes a number of another country', () => {
  expect(normalizePixKey('phone', '+351 912 345 678')).toBe('+351912345678');
  expect(normalizePixKey('phone', '351912345678')).toBeNull();
});

test.each(TYPES)('a NUL makes no key of type %s', (type) => {
  expect(normalizePixKey(type, '\u0000')).toBeNull();
  expect(normalizePixKey(type, '52998224725\u0000')).toBeNull();
  expect(normalizePixKey(type, 'jane@example.com\u0000')).toBeNull();
});

test('a key of a hundred separators is too long to be one', () => {
  expect(normalizePixKey('phone', `11987654321${' '.repeat(66)}`)).toBe('+5511987654321');
  expect(normalizePixKey('phone', `11987654321${' '.repeat(67)}`)).toBeNull();
});

test('a domain label has up to 63 characters', () => {
  expect(normalizePixKey('email', `j@${'a'.repeat(63)}.com`)).not.toBeNull();
  expect(normalizePixKey('email', `j@${'a'.repeat(64)}.com`)).toBeNull();
  expect(normalizePixKey('email', 'j@a-.com')).toBeNull();
});

test('what is canonical stays as it is', () => {
  const keys = vectors.filter(({ kind, valid }) => valid && kind.startsWith('pix_'));
  for (const { kind, normalized } of keys) {
    const type = kind.slice('pix_'.length) as PixKeyType;
    expect(normalizePixKey(type, normalized ?? '')).toBe(normalized);
  }
});

test('every text is a key in one canonical form or none, in time that does not explode', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'+()- .@a-') }));
  fc.assert(
    fc.property(fc.constantFrom(...TYPES), text, (type, input) => {
      const key = normalizePixKey(type, input);
      if (key === null) return;
      expect(normalizePixKey(type, key)).toBe(key);
      expect(key).toMatch(/^[!-~]{3,77}$/);
    }),
  );
  const started = process.threadCpuUsage();
  normalizePixKey('email', `${'a'.repeat(30)}@${'a-'.repeat(22)}!`);
  expect(process.threadCpuUsage(started).user / 1_000).toBeLessThan(50);
});
