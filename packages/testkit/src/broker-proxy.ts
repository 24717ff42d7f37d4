import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:tls';

import { readIdentity } from '@pixmesh/certificates/mesh-identity';
import type { IdentityName } from '@pixmesh/contracts/internal/identities';

import { testIdentityFolder } from './test-infra.ts';

/** Every message of Kafka's protocol begins with its length. */
const LENGTH_BYTES = 4;

export type BrokerProxy = AsyncDisposable & {
  /** The broker's address for those who are to lose it. */
  readonly broker: string;
  /** From now on every connection is closed, old and new ones. */
  cut(): void;
  /** Answers on connections that are taken from now on come so much later. */
  slow(milliseconds: number): void;
  /** As at the beginning, for new connections. */
  mend(): void;
  /** Connections that were taken so far. */
  taken(): number;
  /** Those of them that are still open. */
  open(): number;
};

/**
 * A network between some processes and the one broker, which can be cut for them alone. A broker tells its clients
 * where they shall connect, so its address in answers is replaced by the proxy's, which takes as many bytes. The proxy
 * is the broker to its clients, and to the broker it is `identity`.
 */
export async function startBrokerProxy(
  broker: string,
  identity: IdentityName = 'tools',
): Promise<BrokerProxy> {
  const [host = '', port = ''] = broker.split(':');
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let isCut = false;
  let taken = 0;
  let delayMs = 0;
  const asClient = readIdentity(testIdentityFolder(identity));
  const server = createServer(readIdentity(testIdentityFolder('kafka')), pass);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = (server.address() as AddressInfo).port;
  const [theirs, ours] = [addressOf(host, Number(port)), addressOf(host, own)];
  return {
    broker: `127.0.0.1:${own}`,
    cut: () => {
      isCut = true;
      closeAll();
    },
    slow: (milliseconds) => {
      delayMs = milliseconds;
    },
    mend: () => {
      isCut = false;
      delayMs = 0;
    },
    taken: () => taken,
    open: () => clients.size,
    [Symbol.asyncDispose]: async () => {
      closeAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  function pass(client: Socket): void {
    if (isCut) return void client.destroy();
    taken += 1;
    clients.add(client);
    client.on('close', () => clients.delete(client));
    const answersInMs = delayMs;
    const upstream = connect({ port: Number(port), host, ...asClient });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on(
      'data',
      inMessages((message) => {
        const answer = () => client.write(replaced(message, theirs, ours));
        if (answersInMs === 0) answer();
        else setTimeout(answer, answersInMs);
      }),
    );
  }

  function closeAll(): void {
    for (const socket of sockets) socket.destroy();
  }
}

/** Host and port as they stand behind each other in answers on brokers and coordinators. */
function addressOf(host: string, port: number): Buffer {
  const number = Buffer.alloc(4);
  number.writeInt32BE(port);
  return Buffer.concat([Buffer.from(host), number]);
}

function replaced(message: Buffer, from: Buffer, to: Buffer): Buffer {
  for (let at = message.indexOf(from); at !== -1; at = message.indexOf(from, at + to.length)) {
    to.copy(message, at);
  }
  return message;
}

/** Hands on whole messages, so that an address is never split. */
function inMessages(take: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + rest.readInt32BE(0);
      if (rest.length < end) return;
      take(Buffer.from(rest.subarray(0, end)));
      rest = rest.subarray(end);
    }
  };
}
