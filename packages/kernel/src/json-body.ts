/** More levels of nesting than this are refused; the top-level object is the first (decision 247). */
export const JSON_DEPTH_MAX = 16;

export type JsonBody = { kind: 'ok'; value: Record<string, unknown> } | { kind: 'invalid' };

/** Refuses malformed UTF-8 and drops a leading byte order mark, as RFC 8259 section 8.1 allows. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENERS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSERS: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Reads the bytes of a request body as one JSON object in UTF-8; anything else is `invalid`
 * (decision 1). The last of duplicate keys wins and `__proto__` becomes an ordinary own key, so
 * callers copy known fields only. Time is linear in the input: nesting is counted before
 * `JSON.parse` may build a tree. The size of the body is bounded by whoever received it.
 */
export function parseJsonBody(bytes: Uint8Array, depthMax: number = JSON_DEPTH_MAX): JsonBody {
  if (isDeeperThan(bytes, depthMax)) return { kind: 'invalid' };
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    return isObject(value) ? { kind: 'ok', value } : { kind: 'invalid' };
  } catch {
    return { kind: 'invalid' };
  }
}

/**
 * Counts brackets outside strings. Working on bytes is safe, since in UTF-8 no byte of a longer
 * character looks like ASCII. Unbalanced brackets are left to `JSON.parse`.
 */
function isDeeperThan(bytes: Uint8Array, depthMax: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === QUOTE) inString = !inString;
    else if (inString) index += byte === BACKSLASH ? 1 : 0;
    else if (OPENERS.has(byte)) depth += 1;
    else if (CLOSERS.has(byte)) depth -= 1;
    if (depth > depthMax) return true;
  }
  return false;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
