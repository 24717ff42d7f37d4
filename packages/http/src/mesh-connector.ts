import { createSecureContext } from 'node:tls';

import type { MeshIdentity } from '@pixmesh/certificates/mesh-identity';
import type { ServiceName } from '@pixmesh/contracts/internal/identities';
import { buildConnector } from 'undici';

import { NotConnectedError } from './repeat-call.ts';

/**
 * Of the address and of the handshake, which costs both sides more than a millisecond of CPU: hundreds of calls may
 * begin at once, each with a connection of its own. A process that stands still, or starts, accepts and does not answer;
 * the repeat at another one has to end within the 5 s that a caller waits.
 */
const CONNECT_TIMEOUT_MS = 2_000;

/**
 * Connects to one service as the owner of `identity`, with the certificate of the moment. Whatever the address is: the
 * other side proves that it is that service, and each connection proves it anew.
 */
export function meshConnector(
  identity: Pick<MeshIdentity, 'current'>,
  service: ServiceName,
): buildConnector.connector {
  let texts = identity.current();
  let connect = connectorWith(texts);
  return (options, callback) => {
    if (texts !== identity.current()) {
      connect = connectorWith(identity.current());
      texts = identity.current();
    }
    connect({ ...options, servername: service }, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(new NotConnectedError(`no connection to ${service}`, { cause: error }), null);
    });
  };
}

function connectorWith(texts: ReturnType<MeshIdentity['current']>): buildConnector.connector {
  return buildConnector({
    // Made once a certificate and not once a connection: reading PEM texts costs as much as the handshake.
    secureContext: createSecureContext({ ...texts, minVersion: 'TLSv1.2' }),
    timeout: CONNECT_TIMEOUT_MS,
    maxCachedSessions: 0,
    allowH2: false,
  });
}
