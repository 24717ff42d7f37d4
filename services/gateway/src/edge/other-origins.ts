import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** How long a browser may keep what it was allowed. */
const PREFLIGHT_SECONDS = '600';

/** Reads origins as browsers name them, separated by commas; null when one of them is none. */
export function parseOrigins(text: string): ReadonlySet<string> | null {
  const origins = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return origins.every(isOrigin) ? new Set(origins) : null;
}

/**
 * Lets pages of these origins read `/v1`, with a key that they have (Fetch standard, CORS protocol). Creations stay
 * with servers: a key that may create has no place in a page. To all others nothing is said, as without this.
 */
export function answerOtherOrigins(app: FastifyInstance, origins: ReadonlySet<string>): void {
  if (origins.size === 0) return;
  app.addHook('onRequest', async (request, reply) => {
    if (!isRead(request)) return;
    // What is said depends on it, whatever is said.
    reply.header('vary', 'origin');
    const { origin } = request.headers;
    if (origin === undefined || !origins.has(origin)) return;
    reply.header('access-control-allow-origin', origin);
    if (request.method !== 'OPTIONS') {
      reply.header('access-control-expose-headers', `${ANSWER_HEADERS.requestId}, retry-after`);
      return;
    }
    reply.header('access-control-allow-methods', 'GET');
    reply.header('access-control-allow-headers', 'x-api-key');
    reply.header('access-control-max-age', PREFLIGHT_SECONDS);
    // The awaited answer ends the request.
    await reply.code(204).send();
  });
}

/** A read, or the question before one. */
function isRead({ method, url, headers }: FastifyRequest): boolean {
  if (!url.startsWith('/v1/')) return false;
  const asked = method === 'OPTIONS' ? headers['access-control-request-method'] : method;
  return asked === 'GET';
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text;
}
