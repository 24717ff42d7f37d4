import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';

import type { FastifyInstance } from 'fastify';

import { findClientAddress, type IsTrustedProxy } from './addresses.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where it came from; null where its client had left before anything was read. */
    readonly clientAddress: string | null;
  }
}

const addresses = new AsyncLocalStorage<string | null>();

/** Where the request came from on whose behalf this code runs. */
export function currentClientAddress(): string | null {
  return addresses.getStore() ?? null;
}

/**
 * Has all that is done for a request know where it came from. At once: a connection that has ended forgets it. On the
 * server and not in a hook: those before it refuse requests too.
 */
export function enterClientAddress(app: FastifyInstance, isTrusted: IsTrustedProxy): void {
  const found = new WeakMap<IncomingMessage, string | null>();
  app.server.prependListener('request', (raw) => {
    const forwarded = raw.headers['x-forwarded-for'];
    const line = Array.isArray(forwarded) ? forwarded.join(',') : forwarded;
    found.set(raw, findClientAddress(raw.socket.remoteAddress, line, isTrusted));
  });
  app.decorateRequest('clientAddress', {
    getter() {
      return found.get(this.raw) ?? null;
    },
  });
  app.addHook('onRequest', (request, _reply, done) => {
    addresses.run(request.clientAddress, done);
  });
}
