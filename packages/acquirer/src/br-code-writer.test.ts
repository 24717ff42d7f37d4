import assert from 'node:assert';

import * as fc from 'fast-check';
import { createDynamicPix, hasError, isDynamicPix, parsePix } from 'pix-utils';
import { describe, expect, test } from 'vitest';

import vectors from '../vectors/brcode.json' with { type: 'json' };
import { buildDynamicBrCode } from './br-code-writer.ts';
import { parseBrCode, type BrCodeFields } from './br-code.ts';

const LOCATION = 'pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25';

function decoded(code: string | null): BrCodeFields {
  const read = parseBrCode(code ?? '');
  assert(read.kind === 'valid');
  return read.fields;
}

describe('vectors', () => {
  const rows = vectors.payloads.flatMap(({ payload, fields, generate, note }) =>
    fields?.url === undefined || generate === false ? [] : [{ payload, fields, note }],
  );
  /** The writer neither composes recurrences nor shouts the GUI. */
  const own = rows.filter(({ payload }) => !/BR\.GOV|8080/.test(payload));

  test('every dynamic code but those two forms is written', () => {
    expect(rows.length - own.length).toBe(2);
  });

  test.each(own)('writes: $note', ({ payload, fields }) => {
    const code = buildDynamicBrCode({
      location: fields.url,
      merchantName: fields.merchant_name,
      merchantCity: fields.merchant_city,
      ...(fields.amount !== undefined && { amount: fields.amount }),
      ...(fields.postal_code !== undefined && { postalCode: fields.postal_code }),
    });
    expect(code).toBe(payload);
  });
});

describe('names', () => {
  test.each([
    ['Padaria São João', 'Padaria Sao Joao'],
    ['Comércio de Alimentação do Sertão Ltda', 'Comercio de Alimentacao d'],
    ['LOJA COM NOME DE MAIS DE VINTE', 'LOJA COM NOME DE MAIS DE'],
    ['  Café – 1ª Loja 🙂 ', 'Cafe 1a Loja'],
    ['ＬＯＪＡ', 'LOJA'],
    ['株式会社', 'NAO INFORMADO'],
    ['', 'NAO INFORMADO'],
  ])('%j is written as %j', (merchantName, written) => {
    const code = buildDynamicBrCode({
      location: LOCATION,
      merchantName,
      merchantCity: merchantName,
    });
    expect(decoded(code).merchantName).toBe(written);
    expect(decoded(code).merchantCity).toBe(written.slice(0, 15).trimEnd());
  });
});

describe('locations', () => {
  test.each([
    '',
    'https://pix.example.com/x',
    'a'.repeat(78),
    'a b',
    'é.example/x',
    'a.example/\n',
  ])('%j cannot be written', (location) => {
    expect(buildDynamicBrCode({ location, merchantName: 'LOJA', merchantCity: 'X' })).toBeNull();
  });

  test('77 characters fill the account template to its limit of 99', () => {
    const location = 'a'.repeat(77);
    const code = buildDynamicBrCode({ location, merchantName: 'LOJA', merchantCity: 'X' });
    expect(decoded(code)).toMatchObject({ kind: 'dynamic', url: location });
  });
});

describe('properties', () => {
  const printable = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index));
  const aLocation = fc
    .string({ unit: fc.constantFrom(...printable), minLength: 1, maxLength: 77 })
    .filter((text) => !text.includes('://'));

  test('any names and any location give a code that the strict reader takes back', () => {
    const anyText = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(aLocation, anyText, anyText, (location, merchantName, merchantCity) => {
        const amount = '1234567890.12';
        const code = buildDynamicBrCode({ location, merchantName, merchantCity, amount });
        expect(code).toMatch(/^[ -~]+$/);
        expect(decoded(code)).toMatchObject({
          kind: 'dynamic',
          url: location,
          amount,
          pointOfInitiation: '12',
          txid: '***',
        });
      }),
    );
  });

  test('pix-utils writes the very same code', () => {
    const word = fc.stringMatching(/^[A-Z]{1,12}( [A-Z]{1,2})?$/);
    fc.assert(
      fc.property(aLocation, word, word, (location, merchantName, merchantCity) => {
        const theirs = createDynamicPix({
          url: location,
          merchantName,
          merchantCity,
          oneTime: true,
        });
        const code = buildDynamicBrCode({ location, merchantName, merchantCity });
        expect(hasError(theirs) ? theirs.message : theirs.toBRCode()).toBe(code);
      }),
    );
  });

  test('pix-utils reads what was written', () => {
    fc.assert(
      fc.property(aLocation, fc.string({ unit: 'binary' }), (location, merchantName) => {
        const code = buildDynamicBrCode({ location, merchantName, merchantCity: 'São Paulo' });
        const theirs = parsePix(code ?? '');
        assert(!hasError(theirs) && isDynamicPix(theirs));
        expect(theirs.url).toBe(location);
        expect(theirs.merchantName).toBe(decoded(code).merchantName);
      }),
    );
  });
});
