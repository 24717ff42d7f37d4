import { createHmac, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'pxm_';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 71 random bits: enough for a look-up key that never repeats, and no secret. */
const PUBLIC_ID_LENGTH = 12;
/** 166 random bits; decision 28 asks for at least 160. */
const SECRET_LENGTH = 28;
/** 62^6 exceeds 2^32, so six characters always hold a CRC32. */
const CHECKSUM_LENGTH = 6;

const API_KEY_PATTERN = new RegExp(
  `^${PREFIX}([0-9A-Za-z]{${PUBLIC_ID_LENGTH}})[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`,
);

/**
 * Makes a new API key, `pxm_` + public id (12) + secret (28) + CRC32 (6), all in base62. Only
 * `publicId` and `hashApiKey` of the key are stored; the key itself is shown once.
 */
export function generateApiKey(): { key: string; publicId: string } {
  const publicId = randomBase62(PUBLIC_ID_LENGTH);
  const unchecked = `${PREFIX}${publicId}${randomBase62(SECRET_LENGTH)}`;
  return { key: unchecked + checksum(unchecked), publicId };
}

/**
 * Returns the public id to look a key up by, or null when the text cannot be one of our keys. The
 * checksum stops typing errors before any look-up; it proves nothing about the key.
 */
export function parseApiKey(text: string): { publicId: string } | null {
  const publicId = API_KEY_PATTERN.exec(text)?.[1];
  if (publicId === undefined) return null;
  const unchecked = text.slice(0, -CHECKSUM_LENGTH);
  return text === unchecked + checksum(unchecked) ? { publicId } : null;
}

/**
 * The stored form of a key: HMAC-SHA-256 (32 bytes) of all of it under a pepper kept outside the
 * database. Compare with `timingSafeEqual`. A slow hash would protect 166 random bits no better.
 */
export function hashApiKey(pepper: Uint8Array, key: string): Buffer {
  return createHmac('sha256', pepper).update(key).digest();
}

/** `randomInt` rejects instead of wrapping around, so every character is equally likely. */
function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62.charAt(randomInt(BASE62.length))).join('');
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
