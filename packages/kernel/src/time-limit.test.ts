import { setTimeout as delay } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { startTimeLimit } from './time-limit.ts';

const TRIES_MAX = 10;

test('a process that had no turn until the time was over waits no second half', async () => {
  // A machine that stands still between two timers may turn one try around.
  let isFirst = false;
  for (let tries = 0; tries < TRIES_MAX && !isFirst; tries += 1) isFirst = await isBeforeHalf();
  expect(isFirst).toBe(true);
});

async function isBeforeHalf(): Promise<boolean> {
  const order: string[] = [];
  const passed = Promise.withResolvers<void>();
  startTimeLimit(100, passed.resolve);
  const noted = passed.promise.then(() => order.push('passed'));
  const endMs = performance.now() + 150;
  while (performance.now() < endMs);
  await Promise.all([noted, delay(40).then(() => order.push('almost a half'))]);
  return order[0] === 'passed';
}

test.each([
  ['before its time', 0],
  ['in its second half', 7],
])('one that is ended %s never passes', async (_when, endMs) => {
  let isPassed = false;
  const end = startTimeLimit(10, () => (isPassed = true));
  const other = Promise.withResolvers<void>();
  setTimeout(end, endMs);
  startTimeLimit(40, other.resolve);
  await other.promise;
  expect(isPassed).toBe(false);
});
