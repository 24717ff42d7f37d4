import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';

import type { MeshIdentity } from '@pixmesh/certificates/mesh-identity';
import type { ServiceName } from '@pixmesh/contracts/internal/identities';
import { currentAccount } from '@pixmesh/fair-share/current-account';
import { createLaps } from '@pixmesh/fair-share/laps';
import { within } from '@pixmesh/kernel/within';
import { buildConnector } from 'undici';

import { type ConnectionAttempt, firstConnected } from './first-connected.ts';
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
 * account; the time limit of one begins with its turn. Where it takes long, another attempt is made beside it.
 */
export function meshConnector(
  identity: Pick<MeshIdentity, 'current'>,
  service: ServiceName,
): buildConnector.connector {
  let texts = identity.current();
  let connect = connectorWith(texts);
  const waiting = createLaps<() => Promise<unknown>>();
  let connecting = 0;
  return (options, callback) => void connectInTime(options, callback);

  async function connectInTime(
    ...[options, callback]: Parameters<buildConnector.connector>
  ): Promise<void> {
    const attempt: ConnectionAttempt = (isWanted) => inTurn(() => connectOnce(options, isWanted));
    let socket: Socket;
    try {
      socket = await firstConnected(attempt);
    } catch (cause) {
      return callback(new NotConnectedError(`no connection to ${service}`, { cause }), null);
    }
    callback(null, socket);
  }

  async function inTurn(work: () => Promise<Socket>): Promise<Socket> {
    const { promise, resolve } = Promise.withResolvers<Socket>();
    waiting.add(currentAccount(), () => {
      const connected = work();
      resolve(connected);
      return connected;
    });
    beginWaiting();
    return await promise;
  }

  function beginWaiting(): void {
    for (const begin of waiting.take(CONNECTING_MAX - connecting)) {
      connecting += 1;
      const ended = begin().catch(() => undefined);
      void within(TURN_MS_MAX, ended, undefined).finally(() => {
        connecting -= 1;
        beginWaiting();
      });
    }
  }

  async function connectOnce(
    options: buildConnector.Options,
    isWanted: () => boolean,
  ): Promise<Socket> {
    if (!isWanted()) throw new Error('another attempt has connected');
    return await new Promise((resolve, reject) => {
      currentConnector()({ ...options, servername: service }, (...[error, socket]) => {
        if (error === null) resolve(socket);
        else reject(error);
      });
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
