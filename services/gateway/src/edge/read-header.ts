/** A header as it stood on the wire; Node joins repeated ones, and the joined text may look valid. */
export type SentHeader =
  | { kind: 'missing' }
  | { kind: 'one'; value: string }
  | { kind: 'repeated' };

const MISSING: SentHeader = { kind: 'missing' };
const REPEATED: SentHeader = { kind: 'repeated' };

/** Reads one header from `rawHeaders` (name, value, name, value …); `name` in lower case. */
export function readHeader(rawHeaders: readonly string[], name: string): SentHeader {
  let value: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] ?? '';
    if (sent.length !== name.length || sent.toLowerCase() !== name) continue;
    if (value !== undefined) return REPEATED;
    value = rawHeaders[index + 1] ?? '';
  }
  return value === undefined ? MISSING : { kind: 'one', value };
}
