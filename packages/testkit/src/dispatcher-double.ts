import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { ComparedEvents, CompareEventsBody } from '@pixmesh/contracts/internal/compare-events';

import { serverTlsOf } from './mesh-calls.ts';

export type DispatcherDouble = AsyncDisposable & {
  readonly url: string;
  /** What owners asked, in order. */
  readonly asked: CompareEventsBody[];
  /** How it differs from an owner from now on; at first in nothing, and its intake has handled all. */
  differ(differences: Partial<ComparedEvents>): void;
};

/** The dispatcher's comparison of events by its contract. */
export async function startDispatcherDouble(): Promise<DispatcherDouble> {
  const asked: CompareEventsBody[] = [];
  let differences: Partial<ComparedEvents> = {};
  const server = createServer(serverTlsOf('webhook-dispatcher'), (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as CompareEventsBody;
      asked.push(body);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(compare(body, differences)));
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

/** Of what it differs in, what it was asked for. */
function compare(
  { events }: CompareEventsBody,
  { missing = [], unknown = [], handled_until = new Date().toISOString() }: Partial<ComparedEvents>,
): ComparedEvents {
  const asked = new Set(events.map(({ event_id }) => event_id));
  return { missing: missing.filter((id) => asked.has(id)), unknown, handled_until };
}
