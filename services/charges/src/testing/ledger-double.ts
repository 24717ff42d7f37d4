import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { BookedJournals } from '@pixmesh/contracts/internal/ledger-reads';
import type { z } from 'zod';

export type WireJournal = z.input<typeof BookedJournals>['data'][number];

/** The ledger's look-up of journals by its contract, in memory. */
export async function startLedgerDouble() {
  const journals = new Map<string, WireJournal>();
  let isAway = false;
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    journals,
    setAway: (away: boolean) => {
      isAway = away;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { command_ids: string[] };
    const data = body.command_ids.flatMap((id) => journals.get(id) ?? []);
    response.writeHead(isAway ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ data, has_more: false }));
  }
}
