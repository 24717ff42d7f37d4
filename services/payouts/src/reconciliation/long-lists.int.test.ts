import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { newId, toAcquirerId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type ComparedSides, startComparedSides } from '#test/compared-sides.ts';

import { payoutCheck } from './payout-check.ts';

const SENDS = 50;
const PAGES_MAX = 20;
const MINUTE_MS = 60_000;

let sides: ComparedSides;
beforeAll(async () => {
  sides = await startComparedSides();
});
afterAll(() => sides[Symbol.asyncDispose]());

test('a day of many sends is compared in parts of few pages each, and every send of it', async () => {
  const ids = Array.from({ length: SENDS }, () => toAcquirerId(newId()));
  for (const [index, id] of ids.entries()) {
    await sides.simulator.control('POST', '/control/sends', {
      amount: 300,
      id_envio: id,
      requested_at: new Date(Date.now() - (index + 1) * MINUTE_MS).toISOString(),
    });
  }
  let pages = 0;
  /** The acquirer's list in pages of one. */
  const listSent: Acquirer['listSent'] = async ({ page, ...window }) => {
    pages = Math.max(pages, page + 1);
    const listed = await sides.acquirer.listSent({ ...window, page: 0 });
    if (listed.kind === 'unknown') return listed;
    const items = listed.items.slice(page, page + 1);
    return { ...listed, items, hasMore: listed.items.length > page + 1 };
  };
  const check = payoutCheck({ ...sides, acquirer: { ...sides.acquirer, listSent } });
  const scope = { since: null, knownIds: [], signal: new AbortController().signal };
  const { breaks, compared } = await check.run(scope);
  expect(breaks.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect([compared, pages]).toEqual([SENDS, PAGES_MAX]);
});
