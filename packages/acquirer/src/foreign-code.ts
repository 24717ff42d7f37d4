import type { AcquirerCharge } from './acquirer.ts';
import { parseBrCode } from './br-code.ts';

/**
 * Whether a charge comes with a code by which something else would be paid. One that is closed, or has received
 * something, is taken as it is: what it has received counts.
 */
export function leadsElsewhere({ status, received, brCode, location }: AcquirerCharge): boolean {
  if (status !== 'active' || received.length > 0 || brCode === null) return false;
  return isForeignCode(brCode, location);
}

/**
 * Whether a payer of this code might pay something else than the charge behind this location: a static code, one that
 * may be paid again and again, one that offers a second payment beside the first (another account, or the recurrence of
 * a composed code), or one whose URL (26-25) is another. By a text that is no BR Code nobody pays at all.
 */
export function isForeignCode(text: string, location: string | null): boolean {
  const code = parseBrCode(text);
  if (code.kind === 'invalid') return false;
  const { fields } = code;
  if (fields.kind === 'static' || fields.pointOfInitiation === '11') return true;
  if (fields.secondAccount !== null || fields.recurrenceUrl !== null) return true;
  return location !== null && normalise(location) !== normalise(fields.url);
}

/** What providers write in different ways without meaning another place. Hosts know no case. */
function normalise(text: string): string {
  const bare = text.replace(/^(https?:)?\/\//i, '');
  const url = URL.parse(`https://${bare}`)?.href ?? bare;
  return decodeUnreserved(url).replace(/\/$/, '');
}

/** Escaped or not, these characters are the same (RFC 3986 section 2.3). */
function decodeUnreserved(url: string): string {
  return url.replace(/%[0-9a-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return /[a-z0-9._~-]/i.test(character) ? character : escaped.toUpperCase();
  });
}
