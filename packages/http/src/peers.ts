import type { TLSSocket } from 'node:tls';

import { commonNameOf, type MeshIdentity } from '@pixmesh/certificates/mesh-identity';
import type { FastifyRequest } from 'fastify';

import type { MutualTls } from './service-app.ts';

/** Who calls a listener of the mesh, and how it knows them. */
export type Peers = {
  /** Absent where a test injects requests. */
  tls?: MutualTls;
  /** The caller's name; null where it has none that counts. */
  nameOf(request: FastifyRequest): string | null;
};

/**
 * A caller is whom its certificate names: an authority that `identity` believes has signed it, or there is no
 * connection.
 */
export function meshPeers(identity: Pick<MeshIdentity, 'current' | 'onChange'>): Peers {
  const callers = new WeakMap<object, Caller | null>();
  return { tls: identity, nameOf };

  function nameOf({ raw: { socket } }: FastifyRequest): string | null {
    let caller = callers.get(socket);
    if (caller === undefined) {
      caller = callerAt(socket as TLSSocket);
      callers.set(socket, caller);
    }
    return caller !== null && Date.now() < caller.untilMs ? caller.name : null;
  }
}

type Caller = { name: string; untilMs: number };

/** A connection counts no longer than the certificate by which it was made. */
function callerAt(socket: TLSSocket): Caller | null {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (certificate === undefined) return null;
  const name = commonNameOf(certificate);
  return name === '' ? null : { name, untilMs: certificate.validToDate.getTime() };
}
