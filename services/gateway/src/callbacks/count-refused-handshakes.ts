import type { TLSSocket } from 'node:tls';

import type { FastifyInstance } from 'fastify';

/**
 * A caller without a certificate of the acquirer's authority ends at the handshake, before any route counts it. One
 * that sends nothing, such as a check whether the port is open, is not refused.
 */
export function countRefusedHandshakes(app: FastifyInstance, count: () => void): void {
  app.server.on('tlsClientError', (error: Error & { code?: string }, socket: TLSSocket) => {
    if (isRefused(error, socket)) count();
  });
}

/** Node ends a caller with a foreign certificate itself, and reports a reset, as of one that left. */
function isRefused({ code }: { code?: string }, socket: TLSSocket): boolean {
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return false;
  return code !== 'ECONNRESET' || Boolean(socket.authorizationError);
}
