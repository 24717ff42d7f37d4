/** Bytes of an answer's body that are kept; the socket of a longer answer is dropped (decision 198). */
export const EXCERPT_BYTES_MAX = 16 * 1024;

/** A first buffer that most answers fit into. */
const EXCERPT_BYTES_MIN = 256;
/** A UTF-16 unit needs at most this many bytes in UTF-8. */
const UTF8_BYTES_PER_UNIT_MAX = 3;

/** The beginning of an answer's body, as it arrives. */
export type Excerpt = {
  /** Keeps what still fits, and tells whether more would. */
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
    text: () => toStorableText(bytes.subarray(0, size)),
  };
}

function grow(bytes: Buffer, needed: number): Buffer {
  const length = Math.max(EXCERPT_BYTES_MIN, needed, 2 * bytes.length);
  const grown = Buffer.allocUnsafe(Math.min(length, EXCERPT_BYTES_MAX));
  bytes.copy(grown);
  return grown;
}

/** Postgres takes no NUL in a text; a replacement character is longer than the byte it stands for. */
function toStorableText(bytes: Buffer): string {
  const text = bytes.toString('utf8').replaceAll('\u0000', '\uFFFD');
  if (text.length * UTF8_BYTES_PER_UNIT_MAX <= EXCERPT_BYTES_MAX) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(EXCERPT_BYTES_MAX));
  return text.slice(0, read);
}
