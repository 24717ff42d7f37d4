import { randomInt } from 'node:crypto';

/** An ISPB that belongs to no institution. */
const ISPB = '12345678';
const SUFFIX_LENGTH = 11;
const SUFFIX_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * A new end-to-end id: `E`, ISPB, minute in UTC, 11 letters and digits. It is random rather than drawn from
 * the seed: after a restart the same seed would name a Pix that exists.
 */
export function newEndToEndId(at: Date): string {
  return newId('E', at);
}

/** The id of a return (`rtrId`), which differs by its first letter. */
export function newReturnId(at: Date): string {
  return newId('D', at);
}

function newId(letter: 'E' | 'D', at: Date): string {
  const minute = at
    .toISOString()
    .replace(/[^0-9]/g, '')
    .slice(0, 12);
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () =>
    SUFFIX_ALPHABET.charAt(randomInt(SUFFIX_ALPHABET.length)),
  );
  return `${letter}${ISPB}${minute}${suffix.join('')}`;
}
