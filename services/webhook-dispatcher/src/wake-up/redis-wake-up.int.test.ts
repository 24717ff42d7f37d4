import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { testInfra } from '@pixmesh/testkit/test-infra';
import { expect, test } from 'vitest';

import { createRedisWakeUp } from './redis-wake-up.ts';

const logger = createLogger('test', 'silent');

test('a hint reaches other processes and not the one that gave it', async () => {
  const url = testInfra().redisUrl;
  let heard = 0;
  let own = 0;
  await using _other = createRedisWakeUp({ url, logger, onHint: () => (heard += 1) });
  await using self = createRedisWakeUp({ url, logger, onHint: () => (own += 1) });
  await eventually(() => {
    self.publish();
    expect(heard).toBeGreaterThan(0);
  });
  expect(own).toBe(0);
});

test('a Redis that is away takes hints without failing, and ends without waiting', async () => {
  const wakeUp = createRedisWakeUp({ url: 'redis://127.0.0.1:1', logger, onHint: () => undefined });
  for (let count = 0; count < 100; count += 1) wakeUp.publish();
  const startedMs = performance.now();
  await wakeUp[Symbol.asyncDispose]();
  expect(performance.now() - startedMs).toBeLessThan(500);
});
