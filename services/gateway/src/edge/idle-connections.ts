import type { Socket } from 'node:net';

import type { FastifyInstance, FastifyRequest } from 'fastify';

import { type IsTrustedProxy, plainAddress } from './addresses.ts';

/**
 * How long a connection may be idle after an answer, on which no key, token or secret was accepted yet: longer than
 * answers announce, so that its client sends nothing on a connection that ends.
 */
const IDLE_MS = 6_000;

const known = new WeakSet<Socket>();

/**
 * Ends connections on which nothing was accepted yet soon after an answer: each holds a place of the listener, which
 * has so many. Those of trusted proxies, which carry many callers, may be idle as long as others. On the server and not
 * in a hook: the framework answers ill-formed URLs without running any.
 */
export function endIdleUnauthenticated(
  app: FastifyInstance,
  { isTrusted, idleMs = IDLE_MS }: { isTrusted: IsTrustedProxy; idleMs?: number },
): void {
  app.server.prependListener('request', ({ socket }, response) => {
    const address = plainAddress(socket.remoteAddress);
    if (known.has(socket) || (address !== null && isTrusted(address))) return;
    // Node has set its own time before, at the same event, and sets none while a request is read.
    response.once('finish', () => {
      if (!known.has(socket)) socket.setTimeout(idleMs);
    });
  });
}

/** The caller has shown something that was accepted: its connection is one of those that are kept. */
export function keepConnection(request: FastifyRequest): void {
  const { socket } = request.raw;
  if (known.has(socket)) return;
  known.add(socket);
  // That of an answer before it, where requests were sent one behind the other.
  socket.setTimeout(0);
}
