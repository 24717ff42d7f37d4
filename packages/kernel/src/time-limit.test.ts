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
  startTimeLimit(400, passed.resolve);
  const noted = passed.promise.then(() => order.push('passed'));
  const endMs = performance.now() + 450;
  while (performance.now() < endMs);
  await Promise.all([noted, delay(190).then(() => order.push('almost a half'))]);
  return order[0] === 'passed';
}

test('a process that had no turn until the time was over still reads the answer to what it then sends', async () => {
  const passed = Promise.withResolvers<string>();
  startTimeLimit(400, () => passed.resolve('passed'));
  const endMs = performance.now() + 450;
  while (performance.now() < endMs);
  // An answer of two turns of the event loop, as of a peer that is asked now.
  const answer = delay(1).then(() => delay(1, 'answer'));
  expect(await Promise.race([passed.promise, answer])).toBe('answer');
});

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
