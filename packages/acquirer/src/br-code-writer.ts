import assert from 'node:assert';

import { crc16, writeElement } from './br-code-elements.ts';
import { AMOUNT_PATTERN, GUI, LOCATION_PATTERN, POSTAL_CODE_PATTERN } from './br-code-rules.ts';

const MERCHANT_NAME_LENGTH_MAX = 25;
const MERCHANT_CITY_LENGTH_MAX = 15;

/** Stands for a name without a single printable ASCII character; short enough for a city. */
const UNNAMED = 'NAO INFORMADO';

export type DynamicBrCode = {
  /** Where the payer's app fetches the charge: host and path without scheme, at most 77 characters. */
  location: string;
  /** Any text: accents are stripped and the rest cut to 25 characters. */
  merchantName: string;
  /** Any text: accents are stripped and the rest cut to 15 characters. */
  merchantCity: string;
  postalCode?: string;
  /** Reais with two decimals, such as `10.00`. */
  amount?: string;
};

/**
 * Writes a dynamic code for one payment in printable ASCII, or returns null when `location` cannot
 * be written. What it writes, `parseBrCode` accepts.
 */
export function buildDynamicBrCode(input: DynamicBrCode): string | null {
  if (!LOCATION_PATTERN.test(input.location)) return null;
  assert(AMOUNT_PATTERN.test(input.amount ?? '0.00'), 'malformed amount');
  assert(POSTAL_CODE_PATTERN.test(input.postalCode ?? '-'), 'malformed postal code');
  const unsealed = [
    writeElement('00', '01'),
    writeElement('01', '12'),
    writeElement('26', writeElement('00', GUI) + writeElement('25', input.location)),
    writeElement('52', '0000'),
    writeElement('53', '986'),
    writeElement('54', input.amount),
    writeElement('58', 'BR'),
    writeElement('59', toPrintableAscii(input.merchantName, MERCHANT_NAME_LENGTH_MAX)),
    writeElement('60', toPrintableAscii(input.merchantCity, MERCHANT_CITY_LENGTH_MAX)),
    writeElement('61', input.postalCode),
    writeElement('62', writeElement('05', '***')),
    '6304',
  ].join('');
  return unsealed + crc16(unsealed);
}

/** Decomposes letters, drops what is not printable ASCII, and leaves no blank at either end. */
function toPrintableAscii(text: string, lengthMax: number): string {
  const ascii = text
    .normalize('NFKD')
    .replace(/[^ -~]/g, '')
    .replace(/ +/g, ' ')
    .trim();
  return ascii.slice(0, lengthMax).trimEnd() || UNNAMED;
}
