import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { isEmail } from './emails.ts';

const LONGEST_DOMAIN = `${'d'.repeat(63)}.${'e'.repeat(63)}.${'f'.repeat(63)}.com`;

describe('isEmail', () => {
  test.each([
    'jane@example.com',
    'Jane.Doe+Loja@Example.COM',
    "o'hara@example.com.br",
    'joão@café.com.br',
    'jane%x@sub-domain.example.co',
    'a@xn--caf-dma.example',
    'a@1.example',
    `${'a'.repeat(254 - 1 - LONGEST_DOMAIN.length)}@${LONGEST_DOMAIN}`,
  ])('takes %s', (text) => {
    expect(isEmail(text)).toBe(true);
  });

  test.each([
    ['', 'empty'],
    ['jane.example.com', 'no @'],
    ['jane@doe@example.com', 'two @'],
    ['jane@example.net@example.com', 'two @, a domain behind each'],
    ['@example.com', 'empty local part'],
    ['jane@', 'empty domain'],
    ['jane@example', 'single label'],
    ['jane@example..com', 'empty label'],
    ['jane@.example.com', 'leading dot'],
    ['jane@example.com.', 'final dot'],
    ['jane@-example.com', 'label starts with a hyphen'],
    ['jane@example-.com', 'label ends with a hyphen'],
    ['jane@exam_ple.com', 'underscore in the domain'],
    ['jane@127.0.0.1', 'address literal'],
    ['jane@[127.0.0.1]', 'bracketed literal'],
    [`jane@${'a'.repeat(64)}.com`, 'label of 64 characters'],
    ['jane doe@example.com', 'space'],
    ['jane\u00A0doe@example.com', 'no-break space'],
    ['jane@example.com\n', 'trailing line feed'],
    ['jane\u0000@example.com', 'NUL'],
    ['jane\uD83D@example.com', 'lone surrogate'],
    [`${'a'.repeat(254 - LONGEST_DOMAIN.length)}@${LONGEST_DOMAIN}`, '255 characters'],
  ])('refuses %j: %s', (text) => {
    expect(isEmail(text)).toBe(false);
  });

  test('takes every address that fast-check builds after RFC 1123 and RFC 5322', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (address) => {
        expect(isEmail(address)).toBe(true);
      }),
    );
  });

  test('takes hostile lengths in linear time', () => {
    const started = process.threadCpuUsage();
    expect(isEmail(`${'a'.repeat(1_000_000)}@${'-'.repeat(1_000_000)}`)).toBe(false);
    expect(process.threadCpuUsage(started).user / 1_000).toBeLessThan(1_000);
  });
});
