import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import type { FastifyReply, FastifyRequest } from 'fastify';

const compress = promisify(gzip);

/**
 * A file that never changes while the process lives, in both encodings. Every answer shares these bytes: one made for
 * each would let anybody fill the memory, without a key, by reading slowly.
 */
export type StaticAnswer = {
  plain: Buffer;
  zipped: Buffer;
  etag: string;
  headers: Record<string, string>;
};

/**
 * Prepares a file for `sendStatic`. A client that keeps a copy asks each time whether it is still the same (`no-cache`
 * and an entity tag), so a new release is seen at once and an old one is not sent twice. Every other answer of the
 * listener is `no-store`, because it belongs to one key; these belong to nobody.
 */
export async function toStaticAnswer(
  content: string | Uint8Array,
  headers: Record<string, string>,
): Promise<StaticAnswer> {
  const plain = Buffer.from(content);
  const hash = createHash('sha256').update(plain).digest('base64url');
  return {
    plain,
    zipped: await compress(plain),
    // Weak: the same content goes out in two encodings.
    etag: `W/"${hash}"`,
    headers: {
      'cache-control': 'no-cache',
      vary: 'accept-encoding',
      ...headers,
    },
  };
}

/** Answers with the file, or with 304 to a client that has it. */
export async function sendStatic(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticAnswer,
): Promise<FastifyReply> {
  reply.headers({ ...file.headers, etag: file.etag });
  if (namesTag(request.headers['if-none-match'], file.etag)) return reply.code(304).send();
  if (takesGzip(request.headers['accept-encoding'])) {
    return reply.header('content-encoding', 'gzip').send(file.zipped);
  }
  return reply.send(file.plain);
}

/** Weak comparison (RFC 9110 section 13.1.2). */
function namesTag(header: string | undefined, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return (header ?? '')
    .split(',')
    .some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag));
}

/** Named and not excluded by a weight of zero (RFC 9110 section 12.5.3). */
function takesGzip(header: string | undefined): boolean {
  return (header ?? '')
    .split(',')
    .map((coding) => coding.replaceAll(/\s/g, '').toLowerCase())
    .some((coding) => /^gzip(;q=(?!0(\.0*)?$).*)?$/.test(coding));
}
