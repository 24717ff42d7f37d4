import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import vectors from '../vectors/brcode.json' with { type: 'json' };
import { crc16, writeElement } from './br-code-elements.ts';
import { GUI } from './br-code-rules.ts';
import { parseBrCode } from './br-code.ts';

type VectorFields = Readonly<Record<string, string | undefined>>;

/** The vectors leave out what a code does not say; `fields` says null. */
function toVectorFields(fields: object): VectorFields {
  const named = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(
    named.map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      String(value),
    ]),
  );
}

/** Puts the right CRC behind a code, so that another fault decides. */
function seal(body: string): string {
  return `${body}6304${crc16(`${body}6304`)}`;
}

const VALID = vectors.payloads.filter(({ valid }) => valid);

describe('vectors', () => {
  test.each(vectors.crc_checks)('CRC of $input is $crc', ({ input, crc }) => {
    expect(crc16(input)).toBe(crc);
  });

  test.each(VALID)('valid: $source: $note', ({ payload, fields }) => {
    const read = parseBrCode(payload);
    expect(read.kind === 'valid' && toVectorFields(read.fields)).toEqual(fields);
  });

  test.each(vectors.payloads.filter(({ valid }) => !valid))('invalid: $reason', ({ payload }) => {
    expect(parseBrCode(payload)).toEqual({ kind: 'invalid', reason: expect.any(String) });
  });
});

describe('strictness beyond the vectors', () => {
  const HEAD = '000201';
  const ACCOUNT = aKeyAccount('52998224725');
  const TAIL = '5204000053039865802BR5904LOJA6009SAO PAULO62070503***';

  test('the code that the following ones break is valid', () => {
    expect(parseBrCode(seal(HEAD + ACCOUNT + TAIL)).kind).toBe('valid');
  });

  test.each([
    ['an element that stands twice', HEAD + ACCOUNT + ACCOUNT + TAIL],
    ['an element behind the CRC', `${seal(HEAD + ACCOUNT + TAIL)}8000`],
    ['a letter in a length', `${HEAD}${ACCOUNT}${TAIL}80A0`],
    ['another point of initiation', `${HEAD}010213${ACCOUNT}${TAIL}`],
    ['a category that is no number', HEAD + ACCOUNT + TAIL.replace('0000', '00A0')],
    ['an amount with one decimal', `${HEAD}${ACCOUNT}${writeElement('54', '10.5')}${TAIL}`],
    ['an amount with a line feed', `${HEAD}${ACCOUNT}${writeElement('54', '1.00\n')}${TAIL}`],
    ['an empty city', HEAD + ACCOUNT + TAIL.replace('6009SAO PAULO', '6000')],
    [
      'a city of 16 characters',
      HEAD + ACCOUNT + TAIL.replace('09SAO PAULO', `16${'C'.repeat(16)}`),
    ],
    ['a name of 26 characters', HEAD + ACCOUNT + TAIL.replace('04LOJA', `26${'N'.repeat(26)}`)],
    ['a template 62 that does not parse', HEAD + ACCOUNT + TAIL.replace('0503***', '0504***')],
    ['a template 62 without txid', HEAD + ACCOUNT + TAIL.replace('0503***', '0403***')],
    ['an empty key', HEAD + aKeyAccount('') + TAIL],
    ['an upper-case scheme', HEAD + aUrlAccount('HTTPS://a.example/x') + TAIL],
    ['a space in the URL', HEAD + aUrlAccount('a.example/x y') + TAIL],
  ])('refuses %s', (_name, body) => {
    expect(parseBrCode(seal(body)).kind).toBe('invalid');
  });

  test('takes 512 bytes, and not 512 characters of 513 bytes', () => {
    const body = HEAD + ACCOUNT + TAIL;
    const full = body + aFiller(512 - seal(body).length);
    expect(parseBrCode(seal(full)).kind).toBe('valid');
    expect(parseBrCode(seal(full.replace('#', 'é'))).kind).toBe('invalid');
  });

  test('refuses a CRC in lower case', () => {
    const sealed = seal(HEAD + ACCOUNT + TAIL);
    const lower = sealed.slice(0, -4) + sealed.slice(-4).toLowerCase();
    expect(lower).not.toBe(sealed);
    expect(parseBrCode(lower).kind).toBe('invalid');
  });

  test('skips an unreserved template that does not parse', () => {
    const read = parseBrCode(seal(`${HEAD}${ACCOUNT}${TAIL}8003abc`));
    expect(read.kind === 'valid' && read.fields.recurrenceUrl).toBeNull();
  });
});

describe('properties', () => {
  test('one changed character of a valid code makes it invalid', () => {
    const code = fc.constantFrom(...VALID.map(({ payload }) => payload));
    const character = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 });
    fc.assert(
      fc.property(code, fc.nat(), character, (payload, position, other) => {
        const at = position % payload.length;
        fc.pre(payload[at] !== other);
        const changed = payload.slice(0, at) + other + payload.slice(at + 1);
        expect(parseBrCode(changed).kind).toBe('invalid');
      }),
      { numRuns: 2000 },
    );
  });

  test('no text makes the reader throw, sealed with a right CRC or not', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
        expect(['valid', 'invalid']).toContain(parseBrCode(text).kind);
        expect(['valid', 'invalid']).toContain(parseBrCode(seal(text)).kind);
      }),
    );
  });

  test('a hostile length is refused at once', () => {
    const started = process.threadCpuUsage();
    expect(parseBrCode('0'.repeat(5_000_000)).kind).toBe('invalid');
    expect(process.threadCpuUsage(started).user / 1_000).toBeLessThan(100);
  });
});

function aKeyAccount(key: string): string {
  return writeElement('26', writeElement('00', GUI) + writeElement('01', key));
}

function aUrlAccount(url: string): string {
  return writeElement('26', writeElement('00', GUI) + writeElement('25', url));
}

/** Elements that no reader knows, with the given length in all. */
function aFiller(length: number): string {
  const whole = Array.from({ length: Math.floor((length - 5) / 99) }, (_, index) =>
    writeElement(String(90 + index), '#'.repeat(95)),
  );
  return whole.join('') + writeElement('89', '#'.repeat(length - whole.length * 99 - 4));
}
