import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { endUnreadAnswers } from './unread-answers.ts';

/** More than the kernel takes for a client that reads nothing. */
const LARGE = Buffer.alloc(64 * 1024 * 1024);
const SHORT_MS = 100;
const LONG_MS = 60_000;

async function serve(limits: { stalledMsMax: number; readingMsMax: number }): Promise<Server> {
  const server = createServer((_request, response) => response.end(LARGE));
  endUnreadAnswers(server, limits);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

/** Asks for the answer and reads nothing of it. */
async function ask(server: Server): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined).pause();
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
  return socket;
}

async function connectionOf(server: Server): Promise<Socket> {
  const [socket] = (await once(server, 'connection')) as [Socket];
  return socket;
}

test.each([
  { name: 'reads nothing', stalledMsMax: SHORT_MS, readingMsMax: LONG_MS },
  { name: 'has read too little for too long', stalledMsMax: LONG_MS, readingMsMax: SHORT_MS },
])('a connection ends whose client $name of its answer', async ({ name: _name, ...limits }) => {
  const server = await serve(limits);
  const connection = connectionOf(server);
  await ask(server);
  await once(await connection, 'close');
  expect((await connection).destroyed).toBe(true);
});

test('a client that reads gets all of its answer, and keeps its connection', async () => {
  const server = await serve({ stalledMsMax: LONG_MS, readingMsMax: LONG_MS });
  const socket = await ask(server);
  let length = 0;
  const { promise: isRead, resolve } = Promise.withResolvers<void>();
  socket.on('data', (bytes: Buffer) => {
    length += bytes.length;
    if (length > LARGE.length) resolve();
  });
  socket.resume();
  await isRead;
  socket.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
  const [more] = (await once(socket, 'data')) as [Buffer];
  expect(more.length).toBeGreaterThan(0);
});
