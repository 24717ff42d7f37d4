import { setImmediate as nextTurn } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { probeRedis } from './redis-connection.ts';

test('a Redis that hangs counts as one that is away, is asked once, and is there again when it answers', async () => {
  const pings: PromiseWithResolvers<unknown>[] = [];
  const answers = probeRedis({
    isReady: true,
    ping: () => {
      const ping = Promise.withResolvers<unknown>();
      pings.push(ping);
      return ping.promise;
    },
  });
  expect(await answers()).toBe(false);
  expect(await answers()).toBe(false);
  expect(pings).toHaveLength(1);
  pings[0]!.resolve('PONG');
  await nextTurn();
  const next = answers();
  expect(pings).toHaveLength(2);
  pings[1]!.resolve('PONG');
  expect(await next).toBe(true);
});

test('one that refuses to answer, or has no connection, is away', async () => {
  const refuses = { isReady: true, ping: () => Promise.reject(new Error('NOPERM')) };
  expect(await probeRedis(refuses)()).toBe(false);
  const isAway = { isReady: false, ping: () => Promise.resolve('PONG') };
  expect(await probeRedis(isAway)()).toBe(false);
});
