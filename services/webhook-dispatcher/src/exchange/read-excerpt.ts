/** Bytes of an answer's body that are read at all; then the socket is dropped (decision 198). */
export const EXCERPT_BYTES_MAX = 16 * 1024;

type AnswerBody = AsyncIterable<Buffer> & {
  on(event: 'error', listener: () => void): unknown;
};

/**
 * The beginning of an answer's body as text, for the log only. A reset, junk or the deadline merely ends it:
 * the head has decided already. Bytes are never inflated; what is no UTF-8 or no text shows as U+FFFD.
 */
export async function readExcerpt(body: AnswerBody): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop early destroys the body, which may still report an error to nobody.
  body.on('error', () => undefined);
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= EXCERPT_BYTES_MAX) break;
    }
  } catch {
    // What arrived before is the excerpt.
  }
  return toStorableText(Buffer.concat(chunks).subarray(0, EXCERPT_BYTES_MAX));
}

/** Postgres takes no NUL in a text; a replacement character is longer than the byte it stands for. */
function toStorableText(bytes: Buffer): string {
  const text = bytes.toString('utf8').replaceAll('\u0000', '\uFFFD');
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(EXCERPT_BYTES_MAX));
  return text.slice(0, read);
}
