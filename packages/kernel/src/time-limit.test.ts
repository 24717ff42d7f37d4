import { setTimeout as delay } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { waitAndRead } from './wait-and-read.ts';

const TRIES_MAX = 10;

test('a process that had no turn until the time was over waits no second half', async () => {
  // A machine that stands still between two timers may turn one try around.
  let isFirst = false;
  for (let tries = 0; tries < TRIES_MAX && !isFirst; tries += 1) isFirst = await isBeforeHalf();
  expect(isFirst).toBe(true);
});

async function isBeforeHalf(): Promise<boolean> {
  const order: string[] = [];
  const waited = waitAndRead(100, new AbortController().signal).then(() => order.push('waited'));
  const endMs = performance.now() + 150;
  while (performance.now() < endMs);
  await Promise.all([waited, delay(40).then(() => order.push('almost a half'))]);
  return order[0] === 'waited';
}

test('an abort ends it at once', async () => {
  expect(await waitAndRead(60_000, AbortSignal.abort())).toBe(false);
});
