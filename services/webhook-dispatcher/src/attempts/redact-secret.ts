import { cutExcerpt, EXCERPT_BYTES_MAX } from '#exchange/excerpt.ts';

const REDACTED = '[redacted]';
/** A character that is cut in its middle shows as U+FFFD, or is left out. */
const UTF8_BYTES_PER_CHARACTER_MAX = 4;

/**
 * The excerpt that is stored of an answer, without the secret that the request was signed with: a receiver that repeats
 * it must not bring it into our tables, nor the part of it at which a long answer was cut.
 */
export function redactSecret(excerpt: string, secret: string): string {
  const isCut = Buffer.byteLength(excerpt) > EXCERPT_BYTES_MAX - UTF8_BYTES_PER_CHARACTER_MAX;
  const whole = excerpt.replaceAll(secret, REDACTED);
  return cutExcerpt(isCut ? withoutBeginningAtEnd(whole, secret) : whole);
}

/**
 * Takes away the longest beginning of the secret that the text ends with, and what is left of a character behind it.
 */
function withoutBeginningAtEnd(text: string, secret: string): string {
  const ending = text.replace(/\uFFFD{1,3}$/, '');
  for (let length = Math.min(secret.length - 1, ending.length); length > 0; length -= 1) {
    if (ending.endsWith(secret.slice(0, length))) return ending.slice(0, -length);
  }
  return text;
}
