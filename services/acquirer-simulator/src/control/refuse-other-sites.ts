import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { isLoopbackAddress, isLoopbackName } from './loopback-names.ts';

/** What no browser sends for a page of another site. `none`: somebody typed the address. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Refuses calls that a page of another site has a browser make: the control API asks for no credentials, and a browser
 * on the same machine reaches it. Clients that are no browsers send none of these headers and are let pass.
 */
export function refuseOtherSites(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    const fault = findForeignHeader(request);
    const message = 'The control API takes no calls from pages of other sites.';
    if (fault !== null) await refuse(reply, { fault, message });
  });
}

/**
 * Where only this machine reaches the listener, refuses names that somebody else's DNS may have pointed here: to a
 * browser such a page is of the same origin (DNS rebinding).
 */
export function refuseForeignHosts(app: FastifyInstance, listensOn: string): void {
  if (!isLoopbackAddress(listensOn)) return;
  app.addHook('onRequest', async (request, reply) => {
    const message = 'This listener answers to localhost and loopback addresses alone.';
    if (isForeignHost(request)) await refuse(reply, { fault: 'host', message });
  });
}

/** The envelope, with a code that no client of the mesh ever meets. The awaited answer ends the request. */
async function refuse(
  reply: FastifyReply,
  { fault, message }: { fault: string; message: string },
): Promise<void> {
  await reply.code(403).send({ code: 'FORBIDDEN', message, details: [fault] });
}

/** No browser leaves the header out. */
function isForeignHost({ headers: { host } }: FastifyRequest): boolean {
  if (host === undefined) return false;
  return !isLoopbackName(URL.parse(`http://${host}`)?.hostname ?? '');
}

/** The header that tells of another site, or null. Browsers name the origin of every call that changes something. */
function findForeignHeader({ headers }: FastifyRequest): string | null {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && !OWN_SITES.has(site)) return 'sec-fetch-site';
  const { origin, host } = headers;
  if (origin === undefined) return null;
  const own = URL.parse(`http://${host ?? ''}`);
  return own !== null && URL.parse(origin)?.host === own.host ? null : 'origin';
}
