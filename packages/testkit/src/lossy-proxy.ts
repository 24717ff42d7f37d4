import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';

import type { IdentityName } from '@pixmesh/contracts/internal/identities';

import { serverTlsOf, testIdentity } from './mesh-calls.ts';

/** Leaves the outcome unknown at once; a connection that is cut is made again for a call that may be repeated. */
const NO_ANSWER = 502;

/**
 * What goes wrong with one call: it is lost before its effect, its answer is lost after the effect, or it waits
 * on the way until it is let go, or somebody in between answers instead.
 */
type Trouble =
  | 'lost'
  | 'answer_lost'
  | Promise<void>
  | { readonly status: number; readonly body: object };

export type LossyProxy = AsyncDisposable & {
  readonly url: string;
  /** Troubles of the next calls by this method and path ending, first come first served; then none. */
  trouble(method: string, path: RegExp, ...troubles: Trouble[]): void;
  /** How many troubles no call has met yet. */
  planned(): number;
  /** Forgets them. */
  calm(): void;
  /** Calls that were passed on, as `METHOD path`. */
  readonly passed: string[];
};

/** A network between a service and the ledger that loses and delays what a test says; it holds the keys of both. */
export async function startLossyProxy(target: string, caller: IdentityName): Promise<LossyProxy> {
  const planned: { method: string; path: RegExp; trouble: Trouble }[] = [];
  const passed: string[] = [];
  const secureContext = createSecureContext(testIdentity(caller).current());
  const agent = new Agent({ keepAlive: true, secureContext, servername: 'ledger' });
  const server = createServer(serverTlsOf('ledger'), (incoming, outgoing) => {
    void carry(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  server.keepAliveTimeout = 72_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    trouble: (method, path, ...troubles) =>
      planned.push(...troubles.map((trouble) => ({ method, path, trouble }))),
    planned: () => planned.length,
    calm: () => void planned.splice(0),
    passed,
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function carry(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url = '' } = incoming;
    const index = planned.findIndex((plan) => plan.method === method && plan.path.test(url));
    const trouble = index === -1 ? null : planned.splice(index, 1)[0]?.trouble;
    if (trouble === 'lost') return void outgoing.writeHead(NO_ANSWER).end();
    if (trouble instanceof Promise) await trouble;
    else if (typeof trouble === 'object' && trouble !== null) {
      return void outgoing.writeHead(trouble.status).end(JSON.stringify(trouble.body));
    }
    const answer = await passOn(incoming, target, agent);
    passed.push(`${method} ${url}`);
    if (trouble === 'answer_lost') return void outgoing.writeHead(NO_ANSWER).end();
    outgoing.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  }
}

async function passOn(
  incoming: IncomingMessage,
  target: string,
  agent: Agent,
): Promise<{ status: number; body: Buffer }> {
  const { method, url, headers } = incoming;
  const body = await readAll(incoming);
  const call = request(new URL(url ?? '/', target), {
    agent,
    method: method ?? 'GET',
    headers,
  });
  const answered = once(call, 'response');
  // A kept connection may end at any time, also behind an answer.
  call.on('error', () => undefined);
  call.end(body);
  const [answer] = (await answered) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, body: await readAll(answer) };
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
