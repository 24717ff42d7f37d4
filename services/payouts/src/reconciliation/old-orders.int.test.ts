import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type ComparedSides, startComparedSides } from '#test/compared-sides.ts';

import { payoutCheck } from './payout-check.ts';

const DAY_MS = 86_400_000;

let sides: ComparedSides;
beforeAll(async () => {
  sides = await startComparedSides();
  await sides.aReceivedPix(100_000n);
});
afterAll(() => sides[Symbol.asyncDispose]());

test('a full run compares a known order that is older than what it lists', async () => {
  const id = toAcquirerId(newId());
  await sides.simulator.control('POST', '/control/sends', {
    amount: 700,
    id_envio: id,
    requested_at: new Date(Date.now() - 130 * DAY_MS).toISOString(),
  });
  expect(await fullRun([])).toEqual([]);
  expect(await fullRun([id])).toMatchObject([{ kind: 'missing_right', id, amountCents: 700n }]);
});

async function fullRun(knownIds: string[]) {
  const { signal } = new AbortController();
  const { breaks } = await payoutCheck(sides).run({ since: null, knownIds, signal });
  return breaks;
}
