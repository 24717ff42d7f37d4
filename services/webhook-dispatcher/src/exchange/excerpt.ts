/** Bytes of an answer's body that are stored; the socket of a longer answer is closed (decision 198). */
export const EXCERPT_BYTES_MAX = 16 * 1024;

/** A first buffer that most answers fit into. */
const EXCERPT_BYTES_MIN = 256;
/** A UTF-16 unit needs at most this many bytes in UTF-8. */
const UTF8_BYTES_PER_UNIT_MAX = 3;

/** The beginning of an answer's body, as it arrives. */
export type Excerpt = {
  /** Takes what still fits; answers whether there is room for more. */
  add(chunk: Buffer): boolean;
  text(): string;
};

/**
 * Copies into one buffer that grows: a body that drips byte by byte would otherwise hold a thousand times its
 * size in chunks. Bytes are never inflated; what is no UTF-8 or no text shows as U+FFFD.
 */
export function createExcerpt(): Excerpt {
  let bytes: Buffer = Buffer.alloc(0);
  let size = 0;
  return {
    add: (chunk) => {
      const taken = Math.min(chunk.length, EXCERPT_BYTES_MAX - size);
      if (size + taken > bytes.length) bytes = grow(bytes.subarray(0, size), size + taken);
      chunk.copy(bytes, size, 0, taken);
      size += taken;
      return size < EXCERPT_BYTES_MAX;
    },
    text: () => cutExcerpt(toText(bytes.subarray(0, size))),
  };
}

function grow(bytes: Buffer, needed: number): Buffer {
  const length = Math.max(EXCERPT_BYTES_MIN, needed, 2 * bytes.length);
  const grown = Buffer.allocUnsafe(Math.min(length, EXCERPT_BYTES_MAX));
  bytes.copy(grown);
  return grown;
}

/** Postgres takes no NUL in a text. */
function toText(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll('\u0000', '\uFFFD');
}

/** At most `EXCERPT_BYTES_MAX` in UTF-8: what stands in the place of a byte or of a word may be longer than it was. */
export function cutExcerpt(text: string): string {
  if (text.length * UTF8_BYTES_PER_UNIT_MAX <= EXCERPT_BYTES_MAX) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(EXCERPT_BYTES_MAX));
  return text.slice(0, read);
}
