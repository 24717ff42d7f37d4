import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { BookedJournals } from '@pixmesh/contracts/internal/ledger-reads';
import { serverTlsOf } from '@pixmesh/testkit/mesh-calls';
import type { z } from 'zod';

type JournalPage = z.input<typeof BookedJournals>;
export type WireJournal = JournalPage['data'][number];

/** The ledger's look-up and list of journals by their contract, in memory. */
export async function startLedgerDouble() {
  const journals = new Map<string, WireJournal>();
  let isAway = false;
  const server = createServer(
    serverTlsOf('ledger'),
    (request, response) => void answer(request, response),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
    const page = request.method === 'GET' ? list(request.url ?? '') : lookUp(Buffer.concat(chunks));
    response.writeHead(isAway ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(page));
  }

  function lookUp(bytes: Buffer): JournalPage {
    const body = JSON.parse(bytes.toString('utf8')) as { command_ids: string[] };
    return { data: body.command_ids.flatMap((id) => journals.get(id) ?? []), has_more: false };
  }

  function list(url: string): JournalPage {
    const query = new URL(url, 'http://ledger').searchParams;
    const kinds = query.get('kinds')?.split(',') ?? [];
    const [from, to] = [query.get('created_from') ?? '', query.get('created_to') ?? '~'];
    const after = journals.get(query.get('starting_after') ?? '');
    const limit = Number(query.get('limit'));
    const found = [...journals.values()]
      .filter(
        ({ kind, created_at }) => kinds.includes(kind) && created_at >= from && created_at < to,
      )
      .filter((journal) => after === undefined || placeOf(journal) > placeOf(after))
      .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
    return { data: found.slice(0, limit), has_more: found.length > limit };
  }
}

/** Where a journal stands in the list: by time, and then by its id. */
function placeOf({ created_at, command_id }: WireJournal): string {
  return created_at + command_id;
}
