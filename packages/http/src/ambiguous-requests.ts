import type { IncomingMessage } from 'node:http';

import type { FastifyInstance } from 'fastify';

import { invalidRequest } from './refusal.ts';

const EXPECTED = {
  host: 'one Host header',
  'request-target': 'a path, without scheme and host',
  'transfer-encoding': 'chunked, or a Content-Length instead',
};

/**
 * Refuses what the HTTP parser takes although two readers could understand it differently:
 * another `Host` count than one, a target in absolute form, HTTP/1.0 with a transfer coding, and a coding before
 * `chunked`, which Node leaves in the body. The connection ends with the answer, since nobody can tell where the
 * next request begins.
 */
export function refuseAmbiguousRequests(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    const fault = findFault(request.raw);
    if (fault === null) return;
    reply.header('connection', 'close');
    throw invalidRequest({ name: fault, expected: EXPECTED[fault] });
  });
}

/** The name of what is wrong, or null. HTTP/1.0 may leave `Host` out (RFC 9112 section 3.2). */
function findFault(request: IncomingMessage): keyof typeof EXPECTED | null {
  const isOld = request.httpVersionMajor === 1 && request.httpVersionMinor === 0;
  const hosts = countHeader(request, 'host');
  if (hosts > 1 || (hosts === 0 && !isOld)) return 'host';
  if (request.url?.startsWith('/') !== true) return 'request-target';
  const coding = request.headers['transfer-encoding'];
  if (coding === undefined) return null;
  return isOld || coding.trim().toLowerCase() !== 'chunked' ? 'transfer-encoding' : null;
}

/** How often a header was sent; Node shows some of those that are repeated once. `wanted` in lower case. */
export function countHeader({ rawHeaders }: IncomingMessage, wanted: string): number {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === wanted)
    .length;
}
