import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Writable } from 'node:stream';

import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { receiveBaseBackup } from './receive-base-backup.ts';

/** Of the protocol of Postgres: a kind, the length of what follows with itself, and the rest. */
function message(kind: string, rest: Buffer | string = ''): Buffer {
  const body = Buffer.from(rest);
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const READY = message('Z', 'I');
const STARTED = Buffer.concat([message('R', Buffer.alloc(4)), READY]);
const FIRST_FILES = Buffer.concat([
  message('H', Buffer.alloc(3)),
  message('d', 'nbase.tar\0\0'),
  message('d', `d${'x'.repeat(1_000)}`),
]);
const FAILED = message('E', 'SERROR\0VERROR\0CXX000\0Mchecksum verification failure\0\0');
const [QUERY, TERMINATE] = ['Q', 'X'].map((kind) => kind.charCodeAt(0));

test('an error of the server behind what is still to be written is thrown, and the connection ends', async () => {
  // Takes the first chunk for ever.
  const archive = new Writable({ highWaterMark: 1, write: () => undefined });
  const client = await connectedTo((socket) => {
    socket.write(Buffer.concat([FIRST_FILES, FAILED]));
    // Once the error is met, and the socket is paused for what was read before it.
    archive.once('close', () => socket.write(READY));
  });
  await expect(receiveBaseBackup(client, { archive, manifest: new Writable() })).rejects.toThrow(
    'checksum verification failure',
  );
  await client.end();
});

/** To a server that says only what it is told to when it is asked for a copy. */
async function connectedTo(onCopy: (socket: Socket) => void): Promise<pg.Client> {
  const server = createServer((socket) => {
    socket.once('data', () => socket.write(STARTED));
    socket.on('data', ([kind]) => {
      if (kind === QUERY) onCopy(socket);
      if (kind === TERMINATE) socket.end();
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'any', password: 'any' });
  await client.connect();
  return client;
}
