import { afterEach, expect, onTestFinished, test } from 'vitest';

import { armFailpoints, declareFailpoints } from './failpoints.ts';
import { type HealthOptions, startHealth } from './health.ts';

const failpoint = declareFailpoints(['orders.send.after-2xx', 'orders.relay.after-publish']);

afterEach(() => armFailpoints({}));

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

test('a failpoint fires once, where it was armed', async () => {
  const { arm } = await startTestHealth({});
  expect(await arm({ 'orders.relay.after-publish': 'error' })).toBe(204);
  await failpoint('orders.send.after-2xx');
  await expect(failpoint('orders.relay.after-publish')).rejects.toThrow(
    'orders.relay.after-publish',
  );
  await failpoint('orders.relay.after-publish');
});

test.each([{ 'no.such.place': 'kill' }, { 'orders.send.after-2xx': 'explode' }, null, 7])(
  'failpoints %j are refused as a whole',
  async (actions) => {
    const { arm } = await startTestHealth({});
    expect(await arm(actions)).toBe(400);
  },
);

test('production has no failpoints', async () => {
  const { arm } = await startTestHealth({ failpointsAllowed: false });
  expect(await arm({ 'orders.send.after-2xx': 'kill' })).toBe(404);
  await failpoint('orders.send.after-2xx');
});

async function startTestHealth(changes: Partial<HealthOptions>) {
  const health = await startHealth({
    host: '127.0.0.1',
    port: 0,
    isAlive: () => true,
    checkReady: async () => undefined,
    failpointsAllowed: true,
    ...changes,
  });
  onTestFinished(() => health[Symbol.asyncDispose]());
  const url = `http://127.0.0.1:${health.port}`;
  return {
    health,
    get: async (path: string) => (await fetch(url + path)).status,
    arm: async (actions: unknown) =>
      (await fetch(`${url}/failpoints`, { method: 'PUT', body: JSON.stringify(actions) })).status,
  };
}
