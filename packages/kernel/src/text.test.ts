import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { codePointLength, cutFailureReason, hasControlCharacter, isPlainText } from './text.ts';

describe('codePointLength', () => {
  test.each([
    ['', 0],
    ['café', 4],
    ['🙂🙂', 2],
    ['👩‍👧', 3],
    ['\uD83D', 1],
    ['\uDE42\uD83D', 2],
  ])('counts %j as %i', (text, length) => {
    expect(codePointLength(text)).toBe(length);
  });

  test('agrees with iteration over any text, lone surrogates included', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(codePointLength(text)).toBe(Array.from(text).length);
      }),
    );
  });
});

describe('cutFailureReason', () => {
  test('keeps 255 code points whole, and a shorter reason as it is', () => {
    expect(cutFailureReason('🙂'.repeat(256))).toBe('🙂'.repeat(255));
    expect(cutFailureReason('AC03: no such account')).toBe('AC03: no such account');
  });
});

describe('hasControlCharacter', () => {
  test('finds every C0 control and DEL, and nothing else below U+0100', () => {
    const codes = Array.from({ length: 0x100 }, (_, code) => code);
    const found = codes.filter((code) => hasControlCharacter(`a${String.fromCharCode(code)}b`));
    expect(found).toEqual([...codes.slice(0, 0x20), 0x7f]);
  });
});

describe('isPlainText', () => {
  test.each(['', 'Jane Doe', 'São João 🙂', '\u00A0'])('takes %j', (text) => {
    expect(isPlainText(text)).toBe(true);
  });

  test.each(['a\tb', 'a\n', '\u0000', '\u007F', '\uD83D', 'x\uDE42'])('refuses %j', (text) => {
    expect(isPlainText(text)).toBe(false);
  });
});
