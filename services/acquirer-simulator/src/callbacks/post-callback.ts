import { createSecureContext } from 'node:tls';

import type { TlsIdentity } from '@pixmesh/service/tls-identity';
import { Agent, request } from 'undici';

export type PostCallback = (url: string, body: string) => Promise<boolean>;

/** Posts notices as API Pix says: to `{webhookUrl}/pix`. Redirects are not followed and count as failures. */
export function createPostCallback(options: {
  connections: number;
  /** With it, only certificates of its authority are believed. */
  clientTls: TlsIdentity | null;
  timeoutMs: number;
  /** Ends attempts in flight: their notices stay queued. */
  stopping: AbortSignal;
}): AsyncDisposable & { post: PostCallback } {
  const agent = new Agent({
    connections: options.connections,
    // Made once and not once a connection: reading PEM texts costs as much as the handshake.
    connect: { secureContext: createSecureContext(options.clientTls ?? {}) },
    // Otherwise all calls wait for the first connection, which tells whether the peer speaks HTTP/2.
    allowH2: false,
  });
  return {
    post: async (url, body) => {
      try {
        const answer = await request(`${url}/pix`, {
          dispatcher: agent,
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
          signal: AbortSignal.any([options.stopping, AbortSignal.timeout(options.timeoutMs)]),
        });
        await answer.body.dump();
        return answer.statusCode >= 200 && answer.statusCode < 300;
      } catch {
        return false;
      }
    },
    [Symbol.asyncDispose]: async () => await agent.destroy(),
  };
}
