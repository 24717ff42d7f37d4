import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { gzipSync } from 'node:zlib';

const DRIP_INTERVAL_MS = 100;
const GIGABYTE = 1024 ** 3;
/** What unpacks to 64 MiB. */
const BOMB = gzipSync(Buffer.alloc(64 * 1024 ** 2));

/** Troubles of a plain server that has read the request; the request's path says which. */
const ANSWERS = {
  ok: (socket) => void socket.write(OK),
  hang: () => undefined,
  'drip-head': (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'x-drip: yes\r\n'),
  'drip-body': (socket) => drip(socket, headOf(`content-length: ${GIGABYTE}`), 'x'),
  'drip-chunks': (socket) => drip(socket, headOf('transfer-encoding: chunked'), '1\r\nx\r\n'),
  'drip-early-hints': (socket) => drip(socket, '', EARLY_HINTS),
  'pour-early-hints': (socket) => pour(socket, '', EARLY_HINTS.repeat(400)),
  'pour-body': (socket) => pour(socket, headOf(`content-length: ${GIGABYTE}`), 'z'.repeat(65_536)),
  'pour-extensions': (socket) =>
    pour(socket, `${headOf('transfer-encoding: chunked')}1;`, 'x'.repeat(65_536)),
  'pour-trailers': (socket) =>
    pour(socket, `${headOf('transfer-encoding: chunked')}0\r\n`, 'a: b\r\n'.repeat(10_000)),
  'gzip-bomb': (socket) => {
    socket.write(headOf(`content-encoding: gzip\r\ncontent-length: ${BOMB.length}`));
    socket.write(BOMB);
  },
  'big-head': (socket) =>
    void socket.write(headOf(`${'x-big: '.padEnd(1_000, 'v')}\r\n`.repeat(40))),
  'tiny-headers': (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(12_000)}`),
  'no-http': (socket) => void socket.end('220 mail.example.com ESMTP\r\n'),
  redirect: (socket) => void socket.write(redirectTo('http://127.0.0.1/')),
  'reset-at-request': (socket) => void socket.resetAndDestroy(),
  'reset-in-head': (socket) => resetAfter(socket, 'HTTP/1.1 200 OK\r\ncontent-'),
  'reset-in-body': (socket) => resetAfter(socket, `${headOf('content-length: 100')}begun`),
} satisfies Record<string, (socket: Socket) => void>;

/** Troubles before any request; each has a port of its own. */
const CONNECTIONS = {
  'reset-at-connect': () => createServer((socket) => socket.resetAndDestroy()),
  'tls-stalled': () => createServer((socket) => socket.on('error', () => undefined)),
  'tls-reset': () => createServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
  'tls-expired': () => createTlsReceiver({ cert: readTlsFile('expired-cert.pem') }),
  'tls-self-signed': () => createTlsReceiver({ cert: readTlsFile('self-signed-cert.pem') }),
  'tls-wrong-name': () => createTlsReceiver({ cert: readTlsFile('wrong-name-cert.pem') }),
  'tls-1.0': () => createTlsReceiver({ ...OLD_TLS, minVersion: 'TLSv1', maxVersion: 'TLSv1' }),
  'tls-1.1': () => createTlsReceiver({ ...OLD_TLS, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }),
  'tls-1.2': () => createTlsReceiver({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' }),
  'tls-ok': () => createTlsReceiver({}),
} satisfies Record<string, () => Server>;

export type AnswerTrouble = keyof typeof ANSWERS;
export type ConnectionTrouble = keyof typeof CONNECTIONS;

/** The certificates of the receivers have this issuer, apart from the self-signed one. */
export const RECEIVERS_CA_FILE = new URL('../vectors/tls/ca-cert.pem', import.meta.url);

export type HostileReceivers = AsyncDisposable & {
  /** Of the server that reads a request first and takes its trouble from the path, as in `/hang`. */
  readonly port: number;
  readonly ports: Readonly<Record<ConnectionTrouble, number>>;
};

export const ANSWER_TROUBLES = Object.keys(ANSWERS) as AnswerTrouble[];
export const CONNECTION_TROUBLES = Object.keys(CONNECTIONS) as ConnectionTrouble[];

const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
const OK = headOf('content-length: 2').concat('{}');
/** Older versions need ciphers that are refused elsewhere. */
const OLD_TLS = { ciphers: 'DEFAULT:@SECLEVEL=0' };

/** Receivers on loopback that misbehave in every known way, and one that does not. */
export async function startHostileReceivers(): Promise<HostileReceivers> {
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  const port = await listen(createServer(answerByPath));
  const ports: Record<string, number> = {};
  for (const trouble of CONNECTION_TROUBLES) ports[trouble] = await listen(CONNECTIONS[trouble]());
  return {
    port,
    ports: ports as Record<ConnectionTrouble, number>,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
    },
  };

  async function listen(server: Server): Promise<number> {
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    });
    servers.push(server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 }));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
}

/** A request that comes in several pieces is answered at its first one, which names the path. */
function answerByPath(socket: Socket): void {
  socket.on('data', (chunk) => {
    const [, trouble = ''] = /^POST \/([\w-]+)/.exec(chunk.toString('latin1')) ?? [];
    if (trouble in ANSWERS) ANSWERS[trouble as AnswerTrouble](socket);
  });
}

function createTlsReceiver(options: TlsOptions): Server {
  const key = readTlsFile('receiver-key.pem');
  const server = createTlsServer({ key, cert: readTlsFile('good-cert.pem'), ...options });
  server.on('tlsClientError', () => undefined);
  return server.on('secureConnection', (socket: Socket) => {
    socket.on('error', () => undefined).on('data', () => socket.write(OK));
  });
}

function readTlsFile(name: string): string {
  return readFileSync(new URL(name, RECEIVERS_CA_FILE), 'utf8');
}

function headOf(headers: string): string {
  return `HTTP/1.1 200 OK\r\n${headers.trimEnd()}\r\n\r\n`;
}

function redirectTo(location: string): string {
  return `HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`;
}

function drip(socket: Socket, first: string, next: string): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(next), DRIP_INTERVAL_MS);
  socket.on('close', () => clearInterval(timer));
}

/** As fast as the other side takes it, for ever; the others get their turns all the same. */
function pour(socket: Socket, first: string, next: string): void {
  const write = (text: string): void => {
    if (!socket.destroyed) socket.write(text, () => setImmediate(write, next));
  };
  write(first + next);
}

function resetAfter(socket: Socket, text: string): void {
  socket.write(text, () => setImmediate(() => socket.resetAndDestroy()));
}
