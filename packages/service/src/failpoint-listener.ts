import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';

import { commonNameOf, type MeshIdentity } from '@pixmesh/certificates/mesh-identity';
import type { IdentityName } from '@pixmesh/contracts/internal/identities';
import { FAILPOINTS_ROUTE } from '@pixmesh/contracts/internal/internal-routes';

import { armFailpoints, type FailpointAction } from './failpoints.ts';

const BODY_BYTES_MAX = 16 * 1024;
const CALLERS: ReadonlySet<string> = new Set<IdentityName>(FAILPOINTS_ROUTE.callers);
const ROUTE = `${FAILPOINTS_ROUTE.method} ${FAILPOINTS_ROUTE.path}`;

type FailpointOptions = {
  config: { NODE_ENV: string; HOST: string; FAILPOINTS_PORT?: number | undefined };
  identity: Pick<MeshIdentity, 'current'>;
};

export type FailpointListener = AsyncDisposable & { readonly port: number | null };

/**
 * Where tests arm the failpoints of one process: by mutual TLS, for the identity of tools alone, on a port of its own.
 * It is there only where that port is set, and never in production.
 */
export async function startFailpoints(options: FailpointOptions): Promise<FailpointListener> {
  const { NODE_ENV, HOST, FAILPOINTS_PORT } = options.config;
  if (FAILPOINTS_PORT === undefined || NODE_ENV === 'production') {
    return { port: null, [Symbol.asyncDispose]: async () => undefined };
  }
  const tls = { ...options.identity.current(), requestCert: true, rejectUnauthorized: true };
  const server = createServer({ ...tls, minVersion: 'TLSv1.2' }, (request, response) => {
    void answer(request, response).catch(() => response.writeHead(500).end());
  });
  server.listen(FAILPOINTS_PORT, HOST);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const certificate = (request.socket as TLSSocket).getPeerX509Certificate();
  if (certificate === undefined || !CALLERS.has(commonNameOf(certificate))) {
    return void response.writeHead(403).end();
  }
  if (`${request.method} ${request.url}` !== ROUTE) return void response.writeHead(404).end();
  const actions = parseActions(await readText(request));
  if (actions === null) return void response.writeHead(400).end();
  try {
    armFailpoints(actions);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(400).end((error as Error).message);
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > BODY_BYTES_MAX) break;
  }
  return text;
}

function parseActions(text: string): Record<string, FailpointAction> | null {
  try {
    const actions: unknown = JSON.parse(text);
    return typeof actions === 'object' ? (actions as Record<string, FailpointAction> | null) : null;
  } catch {
    return null;
  }
}
