import { setTimeout as delay } from 'node:timers/promises';

import { createLogger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';
import { Pool, request } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';

import { listen } from './listen.ts';
import { createServiceApp } from './service-app.ts';

/** Above the longest life of a connection. */
const OLD_MS = 60_000;
/** More than a listener has turns of the event loop in the time that they come in. */
const WAITING = 400;
/** Each sends at random moments while its listener stops. */
const CLIENTS = 300;
const SENDS = 4;
/** Shorter than in production, so that the test is; a client ends what is idle so much sooner than announced. */
const ANNOUNCED_MS = 3_000;
/** More than this process, which holds both sides, stands still on a busy machine. */
const CLIENT_MARGIN_MS = 1_500;
/** Beyond the end of the last idle connection. */
const SENDING_MS = 6_000;

function anApp(): FastifyInstance {
  const app = createServiceApp({ logger: createLogger('test', 'silent'), listener: 'test' });
  app.get('/things', async () => ({}));
  onTestFinished(() => app.close());
  return app;
}

async function listening(app: FastifyInstance, port = 0): Promise<string> {
  return `http://127.0.0.1:${await listen(app, { HOST: '127.0.0.1', REUSE_PORT: true }, port)}`;
}

/** A client with one connection, which it keeps as long as it may. */
function aClient(url: string, options: Pool.Options = {}) {
  const pool = new Pool(url, { connections: 1, ...options });
  onTestFinished(() => pool.destroy());
  return {
    get: async (): Promise<string | undefined> => {
      const { statusCode, headers, body } = await pool.request({ method: 'GET', path: '/things' });
      await body.text();
      expect(statusCode).toBe(200);
      return headers['connection'] as string | undefined;
    },
  };
}

test('a connection ends with an answer when it is old, and not before', async () => {
  const client = aClient(await listening(anApp()));
  expect([await client.get(), await client.get()]).toEqual(['keep-alive', 'keep-alive']);
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + OLD_MS);
  onTestFinished(() => clock.mockRestore());
  expect(await client.get()).toBe('close');
  // The next one is by a connection of its own.
  expect(await client.get()).toBe('keep-alive');
});

test('a connection that is idle when its process stops is still served, and ends with that answer', async () => {
  const app = anApp();
  const client = aClient(await listening(app));
  await client.get();
  const draining = app.drain();
  expect(await client.get()).toBe('close');
  await draining;
});

test('a connection that rests is announced to end before its process, when it stops, ends it', async () => {
  const url = await listening(anApp());
  const { headers, body } = await request(`${url}/things`);
  await body.dump();
  expect(headers['keep-alive']).toContain('timeout=5');
});

test('clients that send at random moments while a process stops lose no call', async () => {
  const stopping = anApp();
  stopping.server.keepAliveTimeout = ANNOUNCED_MS;
  const url = await listening(stopping);
  const options = { keepAliveTimeoutThreshold: CLIENT_MARGIN_MS };
  const clients = Array.from({ length: CLIENTS }, () => aClient(url, options));
  await Promise.all(clients.map((client) => client.get()));
  await listening(anApp(), Number(new URL(url).port));
  const drained = stopping.drain();
  const sends = clients.flatMap((client) =>
    Array.from({ length: SENDS }, () => delay(Math.random() * SENDING_MS).then(client.get)),
  );
  expect(await Promise.all(sends)).toHaveLength(CLIENTS * SENDS);
  await drained;
});

test('a connection that stays idle does not hold a stop up', async () => {
  const app = anApp();
  const client = aClient(await listening(app));
  await client.get();
  const startedMs = performance.now();
  await app.drain();
  expect(performance.now() - startedMs).toBeLessThan(5_000);
});

test('connections that wait to be accepted when a process stops are served, and new ones go to another', async () => {
  const stopping = anApp();
  const url = await listening(stopping);
  const waiting = Array.from({ length: WAITING }, () => request(`${url}/things`, { reset: true }));
  const drained = stopping.drain();
  const answers = await Promise.all(waiting);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(WAITING).fill(200));
  await Promise.all(answers.map(({ body }) => body.text()));
  await drained;
  const other = anApp();
  await listening(other, Number(new URL(url).port));
  expect((await request(`${url}/things`, { reset: true })).statusCode).toBe(200);
});
