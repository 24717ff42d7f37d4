import { parseBrCode } from './br-code.ts';

/**
 * Whether whoever pays by this code would pay something else than the charge behind these locations: a static code, one
 * that may be paid again and again, or one whose URL (26-25) is another. By a text that is no BR Code nobody pays at all.
 */
export function isForeignCode(text: string, locations: readonly string[]): boolean {
  const code = parseBrCode(text);
  if (code.kind === 'invalid') return false;
  const { fields } = code;
  if (fields.kind === 'static' || fields.pointOfInitiation === '11') return true;
  return !locations.every((location) => isSameUrl(location, fields.url));
}

/** Hosts know no case, and some providers write a scheme before the location. */
function isSameUrl(location: string, url: string): boolean {
  return normalise(location) === normalise(url);
}

function normalise(text: string): string {
  return URL.parse(`https://${text.replace(/^https:\/\//i, '')}`)?.href ?? text;
}
