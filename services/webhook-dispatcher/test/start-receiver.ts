import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type ReceivedRequest = {
  path: string;
  headers: NodeJS.Dict<string | string[]>;
  rawHeaders: string[];
  body: Buffer;
  receivedMs: number;
  /** Which connection brought it, counted from 1. */
  connection: number;
};

type Answer = (request: ReceivedRequest, response: ServerResponse) => void;

export type Receiver = AsyncDisposable & {
  readonly port: number;
  readonly requests: ReceivedRequest[];
  connections(): number;
};

/** A merchant's server on loopback, reached through the map of development receivers. */
export async function startReceiver(answer: Answer = answerWith(200)): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const sockets = new WeakMap<object, number>();
  let connections = 0;
  const server = createServer((request, response) => {
    void take(request).then((received) => answer(received, response));
  });
  server.on('connection', (socket) => {
    connections += 1;
    sockets.set(socket, connections);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function take(request: IncomingMessage): Promise<ReceivedRequest> {
    const receivedMs = performance.now();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const received = {
      path: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body: Buffer.concat(chunks),
      receivedMs,
      connection: sockets.get(request.socket) ?? 0,
    };
    requests.push(received);
    return received;
  }
}

/** Answers every request alike. */
export function answerWith(status: number, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, headers).end('{}');
  };
}

/** Fails until `heal`. */
export async function startFailingReceiver(): Promise<Receiver & { heal(): void }> {
  let status = 500;
  const receiver = await startReceiver((request, response) =>
    answerWith(status)(request, response),
  );
  return { ...receiver, heal: () => void (status = 200) };
}

/** Accepts and never answers. */
export function hang(): void {
  // Nothing is written and nothing is closed.
}
