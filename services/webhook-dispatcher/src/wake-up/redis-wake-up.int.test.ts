import { newId } from '@pixmesh/kernel/ids';
import { createLogger, type Logger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { testRedis } from '@pixmesh/testkit/test-redis';
import { expect, test } from 'vitest';

import { createRedisWakeUp } from './redis-wake-up.ts';

const logger = createLogger('test', 'silent');

test('a hint reaches other processes with its lanes, and not the one that gave it', async () => {
  const address = testRedis('webhook-dispatcher');
  const received = new Set<string>();
  let own = 0;
  const onHint = (lanes: readonly string[]): void => lanes.forEach((id) => received.add(id));
  await using _other = createRedisWakeUp({ ...address, logger, onHint });
  await using self = createRedisWakeUp({ ...address, logger, onHint: () => (own += 1) });
  const [first, second, third] = [newId(), newId(), newId()];
  await eventually(() => {
    self.publish([first]);
    // Those behind the one on its way share a hint.
    self.publish([second]);
    self.publish([third, first]);
    expect([...received]).toEqual(expect.arrayContaining([first, second, third]));
  });
  expect(own).toBe(0);
});

test('a hint of very many lanes means all of them', async () => {
  const address = testRedis('webhook-dispatcher');
  const hints: number[] = [];
  const self = createRedisWakeUp({ ...address, logger, onHint: null });
  await using _self = self;
  const onHint = (lanes: readonly string[]): void => void hints.push(lanes.length);
  await using _other = createRedisWakeUp({ ...address, logger, onHint });
  await eventually(() => {
    self.publish(Array.from({ length: 2_000 }, () => newId()));
    expect(hints).toContain(0);
  });
  expect(Math.max(...hints)).toBeLessThanOrEqual(500);
});

test('a Redis that refuses the password takes hints without failing, and is an error in the log', async () => {
  const { url, ca } = testRedis('webhook-dispatcher');
  const forged = new URL(url);
  forged.password = 'an-old-one';
  const errors: string[] = [];
  const watched = { ...logger, error: (_fields: object, line: string) => errors.push(line) };
  const options = { url: forged.href, ca, logger: watched as unknown as Logger };
  await using wakeUp = createRedisWakeUp({ ...options, onHint: null });
  await eventually(() => {
    wakeUp.publish([newId()]);
    expect(errors).toEqual(['redis refused: check the user of REDIS_URL']);
  });
});

test('a Redis that is away takes hints without failing, and ends without waiting', async () => {
  const wakeUp = createRedisWakeUp({ url: 'redis://127.0.0.1:1', logger, onHint: () => undefined });
  for (let count = 0; count < 100; count += 1) wakeUp.publish([newId()]);
  const startedMs = performance.now();
  await wakeUp[Symbol.asyncDispose]();
  expect(performance.now() - startedMs).toBeLessThan(500);
});
