import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';

import { createServiceApp } from '@pixmesh/http/service-app';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { keepConnection, endIdleUnauthenticated } from './idle-connections.ts';

const IDLE_MS = 100;

let app: FastifyInstance;
let sockets: Socket[];
let isTrusted: boolean;
let slow: PromiseWithResolvers<string>;

beforeEach(async () => {
  sockets = [];
  isTrusted = false;
  const logger = createLogger('test', 'silent');
  app = createServiceApp({ logger, listener: 'test' });
  endIdleUnauthenticated(app, { isTrusted: () => isTrusted, idleMs: IDLE_MS });
  app.get('/known', (request, reply) => {
    keepConnection(request);
    return reply.send('{}');
  });
  slow = Promise.withResolvers();
  app.get('/slow', async (request) => {
    await setImmediate();
    keepConnection(request);
    return await slow.promise;
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await app.close();
});

async function open(): Promise<Socket> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket.on('error', () => undefined));
  await once(socket, 'connect');
  return socket;
}

/** The head of the answer; a body follows in the same packet. */
async function ask(socket: Socket, path: string): Promise<string> {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes.toString();
}

test.each(['/nothing', '/%zz'])(
  'a stranger’s connection ends soon after its answer: %s',
  async (path) => {
    const stranger = await open();
    expect(await ask(stranger, path)).toMatch(/keep-alive: timeout=5\b/i);
    await once(stranger, 'close');
  },
);

test('one on which a caller was accepted stays, and so does one of a trusted proxy', async () => {
  const caller = await open();
  for (const path of ['/nothing', '/known', '/nothing']) await ask(caller, path);
  isTrusted = true;
  const proxy = await open();
  await ask(proxy, '/nothing');
  isTrusted = false;
  const stranger = await open();
  await ask(stranger, '/nothing');
  await once(stranger, 'close');
  expect([caller.closed, proxy.closed]).toEqual([false, false]);
});

test('a caller’s request is not cut off for that of a stranger before it on the same connection', async () => {
  const caller = await open();
  let text = '';
  caller.on('data', (bytes: Buffer) => void (text += bytes.toString()));
  const of = (path: string) => `GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`;
  caller.write(of('/nothing') + of('/slow'));
  await once(caller, 'data');
  const stranger = await open();
  await ask(stranger, '/nothing');
  await once(stranger, 'close');
  slow.resolve('done');
  await eventually(() => expect(text).toContain('done'));
});
