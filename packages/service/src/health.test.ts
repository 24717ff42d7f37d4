import { expect, onTestFinished, test } from 'vitest';

import { type HealthOptions, startHealth } from './health.ts';

test('a service is alive while its loops turn, and ready while it can work', async () => {
  let alive = true;
  let ready = true;
  const { get } = await startTestHealth({
    isAlive: () => alive,
    checkReady: async () => {
      if (!ready) throw new Error('database away');
    },
  });
  expect([await get('/livez'), await get('/readyz')]).toEqual([200, 200]);
  ready = false;
  expect([await get('/livez'), await get('/readyz')]).toEqual([200, 503]);
  alive = false;
  expect(await get('/livez')).toBe(503);
});

test('a check that hangs is not ready', async () => {
  const { get } = await startTestHealth({ checkReady: () => new Promise(() => undefined) });
  expect(await get('/readyz')).toBe(503);
});

test('a stopping service is not ready, and still alive', async () => {
  const { health, get } = await startTestHealth({});
  health.setNotReady();
  expect([await get('/livez'), await get('/readyz')]).toEqual([200, 503]);
});

test('anything else is not found', async () => {
  const { get } = await startTestHealth({});
  expect([await get('/'), await get('/livez?x')]).toEqual([404, 404]);
});

test('failpoints are armed elsewhere', async () => {
  const { url } = await startTestHealth({});
  expect((await fetch(`${url}/failpoints`, { method: 'PUT', body: '{}' })).status).toBe(404);
});

async function startTestHealth(changes: Partial<HealthOptions>) {
  const health = await startHealth({
    host: '127.0.0.1',
    port: 0,
    isAlive: () => true,
    checkReady: async () => undefined,
    ...changes,
  });
  onTestFinished(() => health[Symbol.asyncDispose]());
  const url = `http://127.0.0.1:${health.port}`;
  return {
    health,
    url,
    get: async (path: string) => (await fetch(url + path)).status,
  };
}
