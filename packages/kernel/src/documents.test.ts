import * as cnpjOracle from '@fnando/cnpj';
import * as cpfOracle from '@fnando/cpf';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import vectors from '../vectors/documents.json' with { type: 'json' };
import { normalizeCnpj, normalizeCpf, normalizeDocument } from './documents.ts';

const READERS: Readonly<Record<string, (input: string) => string | null>> = {
  cpf: normalizeCpf,
  cnpj: normalizeCnpj,
  document: (input) => normalizeDocument(input)?.number ?? null,
};

const DIGITS = '0123456789';
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

function textOf(alphabet: string, length: number): fc.Arbitrary<string> {
  return fc.string({
    unit: fc.constantFrom(...alphabet.split('')),
    minLength: length,
    maxLength: length,
  });
}

describe('vectors', () => {
  const rows = vectors.filter(({ kind }) => kind in READERS);

  test('every kind of document has rows', () => {
    expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(Object.keys(READERS)));
  });

  test.each(rows)('$kind $input: $note', ({ kind, input, valid, normalized }) => {
    expect(READERS[kind]?.(input)).toBe(valid ? normalized : null);
  });
});

describe('normalizeDocument', () => {
  test('says which kind it found', () => {
    expect(normalizeDocument('529.982.247-25')).toEqual({ kind: 'cpf', number: '52998224725' });
    expect(normalizeDocument('12abc34501de35')).toEqual({ kind: 'cnpj', number: '12ABC34501DE35' });
  });

  test('is idempotent and never throws', () => {
    const input = fc.oneof(fc.string({ unit: 'binary' }), textOf(`${DIGITS}./- `, 18));
    fc.assert(
      fc.property(input, (text) => {
        const document = normalizeDocument(text);
        expect(document && normalizeDocument(document.number)).toEqual(document);
      }),
    );
  });

  test('takes hostile lengths in linear time', () => {
    const started = process.threadCpuUsage();
    expect(normalizeDocument('-'.repeat(1_000_000))).toBeNull();
    expect(normalizeDocument('1'.repeat(1_000_000))).toBeNull();
    expect(process.threadCpuUsage(started).user / 1_000).toBeLessThan(1_000);
  });
});

describe('agreement with independent implementations', () => {
  test('decides any 11 digits as @fnando/cpf does', () => {
    fc.assert(
      fc.property(textOf(DIGITS, 11), (text) => {
        expect(normalizeCpf(text) !== null).toBe(cpfOracle.isValid(text, true));
      }),
      { numRuns: 2000 },
    );
  });

  test('computes the check digits of any CPF as @fnando/cpf does', () => {
    fc.assert(
      fc.property(textOf(DIGITS, 9), (root) => {
        fc.pre(!/^(.)\1*$/.test(root));
        const first = `${root}${cpfOracle.verifierDigit(root)}`;
        const number = `${first}${cpfOracle.verifierDigit(first)}`;
        expect(normalizeCpf(cpfOracle.format(number))).toBe(number);
      }),
      { numRuns: 2000 },
    );
  });

  test('computes the check digits of any numeric or alphanumeric CNPJ as @fnando/cnpj does', () => {
    fc.assert(
      fc.property(fc.oneof(textOf(DIGITS, 12), textOf(DIGITS + LETTERS, 12)), (root) => {
        fc.pre(!/^0*$/.test(root));
        const values = Array.from(root, (character) => character.charCodeAt(0) - 48);
        const first = cnpjOracle.verifierDigit(values);
        const second = cnpjOracle.verifierDigit([...values, first]);
        const number = `${root}${first}${second}`;
        expect(normalizeCnpj(cnpjOracle.format(number).toLowerCase())).toBe(number);
        expect(normalizeCnpj(`${root}${first}${(second + 1) % 10}`)).toBeNull();
      }),
      { numRuns: 2000 },
    );
  });
});
