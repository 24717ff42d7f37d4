import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type ComparedSides, startComparedSides } from '#test/compared-sides.ts';

import { payoutCheck } from './payout-check.ts';

const HOUR_MS = 3_600_000;

let sides: ComparedSides;
beforeAll(async () => {
  sides = await startComparedSides();
  await sides.aReceivedPix(100_000n);
});
afterAll(() => sides[Symbol.asyncDispose]());

test('an order that cannot be read is a break by itself, found again, and hides no other', async () => {
  const [unread, foreign] = [toAcquirerId(newId()), toAcquirerId(newId())];
  for (const id_envio of [unread, foreign]) {
    await sides.simulator.control('POST', '/control/sends', { amount: 300, id_envio });
  }
  let endToEndId = '';
  const listSent: Acquirer['listSent'] = async (page) => {
    const listed = await sides.acquirer.listSent(page);
    if (listed.kind === 'unknown') return listed;
    const items = listed.items.filter(({ idEnvio }) => idEnvio !== unread);
    const hidden = listed.items.find(({ idEnvio }) => idEnvio === unread);
    endToEndId = hidden?.endToEndId ?? endToEndId;
    const unreadable = hidden === undefined ? [] : [{ position: 0, paths: ['valor'], endToEndId }];
    return { ...listed, items, unreadable };
  };
  const check = payoutCheck({ ...sides, acquirer: { ...sides.acquirer, listSent } });
  const run = async (since: Date | null, knownIds: string[]) => {
    const { breaks } = await check.run({ since, knownIds, signal: new AbortController().signal });
    return breaks.map(({ kind, id }) => `${kind} ${id}`).toSorted();
  };
  const first = await run(null, []);
  const expected = [`missing_right ${foreign}`, `unavailable ${endToEndId}`];
  expect(first).toEqual(expected);
  expect(await run(new Date(Date.now() + HOUR_MS), [foreign, endToEndId])).toEqual(expected);
});

test('a payout whose order cannot be read is a break by itself', async () => {
  const payout = await sides.aCompletedPayout();
  const acquirer: typeof sides.acquirer = {
    ...sides.acquirer,
    listSent: async () => ({ kind: 'page', items: [], unreadable: [], hasMore: false }),
    getPayout: async () => ({ kind: 'unknown', cause: 'unreadable' }),
  };
  const scope = { since: null, knownIds: [], signal: new AbortController().signal };
  const { breaks } = await payoutCheck({ ...sides, acquirer }).run(scope);
  expect(breaks).toMatchObject([{ kind: 'unavailable', id: payout.id, found: 'unreadable' }]);
});
