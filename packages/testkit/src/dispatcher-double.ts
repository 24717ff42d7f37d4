import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { ComparedEvents, CompareEventsBody } from '@pixmesh/contracts/internal/compare-events';

import { serverTlsOf } from './mesh-calls.ts';

export type DispatcherDouble = AsyncDisposable & {
  readonly url: string;
  /** What owners asked, in order. */
  readonly asked: CompareEventsBody[];
  /** How it differs from an owner from now on; at first in nothing. */
  differ(differences: ComparedEvents): void;
};

/** The dispatcher's comparison of events by its contract. */
export async function startDispatcherDouble(): Promise<DispatcherDouble> {
  const asked: CompareEventsBody[] = [];
  let differences: ComparedEvents = { missing: [], unknown: [] };
  const server = createServer(serverTlsOf('webhook-dispatcher'), (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      asked.push(JSON.parse(Buffer.concat(chunks).toString('utf8')) as CompareEventsBody);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(differences));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    differ: (next) => {
      differences = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
