import { AsyncLocalStorage } from 'node:async_hooks';

import type { FastifyInstance } from 'fastify';

import { findClientAddress, type IsTrustedProxy } from './addresses.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where it came from; null where its client had left before anything was read. */
    clientAddress: string | null;
  }
}

const addresses = new AsyncLocalStorage<string | null>();

/** Where the request came from on whose behalf this code runs. */
export function currentClientAddress(): string | null {
  return addresses.getStore() ?? null;
}

/** Has all that is done for a request know where it came from. At once: a connection that has ended forgets it. */
export function enterClientAddress(app: FastifyInstance, isTrusted: IsTrustedProxy): void {
  app.decorateRequest('clientAddress', null);
  app.addHook('onRequest', (request, _reply, done) => {
    const forwarded = request.headers['x-forwarded-for'];
    const line = Array.isArray(forwarded) ? forwarded.join(',') : forwarded;
    request.clientAddress = findClientAddress(request.raw.socket.remoteAddress, line, isTrusted);
    addresses.run(request.clientAddress, done);
  });
}
