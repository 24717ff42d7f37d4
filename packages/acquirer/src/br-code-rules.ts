/** Marks a template as Pix, in any case. */
export const GUI = 'br.gov.bcb.pix';

/** Host and path as the acquirer gives them, never with a scheme. */
export const LOCATION_PATTERN = /^(?![a-z][a-z0-9+.-]*:\/\/)[!-~]{1,77}$/i;

/** Reais with two decimals (decision 219). */
export const AMOUNT_PATTERN = /^[0-9]{1,10}\.[0-9]{2}$/;
export const POSTAL_CODE_PATTERN = /^[ -~]{1,10}$/;
export const TXID_PATTERN = /^[ -~]{1,25}$/;

type RootRule = { id: string; pattern: RegExp; expected: string; optional?: true };

/**
 * What the plain elements of the root level must hold (BR Code manual of the Central Bank). A dot
 * under the `u` flag is one code point, the unit of lengths in a BR Code.
 */
export const ROOT_RULES: readonly RootRule[] = [
  { id: '01', pattern: /^1[12]$/, expected: '11 or 12', optional: true },
  { id: '52', pattern: /^[0-9]{4}$/, expected: 'a category of 4 digits' },
  { id: '53', pattern: /^986$/, expected: '986' },
  { id: '54', pattern: AMOUNT_PATTERN, expected: 'an amount with a dot', optional: true },
  { id: '58', pattern: /^BR$/, expected: 'BR' },
  { id: '59', pattern: /^.{1,25}$/su, expected: 'a name of 1 to 25 characters' },
  { id: '60', pattern: /^.{1,15}$/su, expected: 'a city of 1 to 15 characters' },
  { id: '61', pattern: POSTAL_CODE_PATTERN, expected: 'a postal code', optional: true },
];
