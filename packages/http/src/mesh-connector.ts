import { createSecureContext } from 'node:tls';

import type { MeshIdentity } from '@pixmesh/certificates/mesh-identity';
import type { ServiceName } from '@pixmesh/contracts/internal/identities';
import { currentAccount } from '@pixmesh/fair-share/current-account';
import { createLaps } from '@pixmesh/fair-share/laps';
import { within } from '@pixmesh/kernel/within';
import { buildConnector } from 'undici';

import { NotConnectedError } from './repeat-call.ts';

/**
 * Of the address and of the handshake, which costs both sides more than a millisecond of CPU. A process that stands
 * still, or starts, accepts and does not answer.
 */
const CONNECT_TIMEOUT_MS = 2_000;
/**
 * Connections that are made at once; hundreds of calls may need one each. All their handshakes together make each as
 * slow as the last: on a busy machine none would end in time, and all would begin anew.
 */
const CONNECTING_MAX = 32;
/** What takes longer is waited for by itself: a peer that stands still keeps the others from no turn. */
const TURN_MS_MAX = 250;

/**
 * Connects to one service as the owner of `identity`, with the certificate of the moment. Whatever the address is: the
 * other side proves that it is that service, and each connection proves it anew. A few at a time, in equal turns by
 * account; the time limit of one begins with its turn.
 */
export function meshConnector(
  identity: Pick<MeshIdentity, 'current'>,
  service: ServiceName,
): buildConnector.connector {
  let texts = identity.current();
  let connect = connectorWith(texts);
  const waiting = createLaps<() => void>();
  let connecting = 0;
  return (options, callback) => {
    waiting.add(currentAccount(), () => begin(options, callback));
    beginWaiting();
  };

  function beginWaiting(): void {
    for (const connectNext of waiting.take(CONNECTING_MAX - connecting)) {
      connecting += 1;
      connectNext();
    }
  }

  function begin(...[options, callback]: Parameters<buildConnector.connector>): void {
    const connected = new Promise<void>((resolve) => {
      const fail = (error: unknown): void => {
        callback(new NotConnectedError(`no connection to ${service}`, { cause: error }), null);
        resolve();
      };
      try {
        currentConnector()({ ...options, servername: service }, (...[error, socket]) => {
          if (error !== null) return fail(error);
          callback(null, socket);
          resolve();
        });
      } catch (error) {
        fail(error);
      }
    });
    void within(TURN_MS_MAX, connected, undefined).finally(() => {
      connecting -= 1;
      beginWaiting();
    });
  }

  function currentConnector(): buildConnector.connector {
    if (texts !== identity.current()) {
      connect = connectorWith(identity.current());
      texts = identity.current();
    }
    return connect;
  }
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
