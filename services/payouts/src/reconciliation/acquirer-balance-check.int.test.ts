import type { Acquirer } from '@pixmesh/acquirer/client';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aReturn } from '#test/an-acquirer-payout.ts';
import { type ComparedSides, startComparedSides } from '#test/compared-sides.ts';

import { acquirerBalanceCheck } from './acquirer-balance-check.ts';

let sides: ComparedSides;
beforeAll(async () => {
  sides = await startComparedSides();
  await sides.aReceivedPix(100_000n);
});
afterAll(() => sides[Symbol.asyncDispose]());

async function run(changes: Partial<Pick<Acquirer, 'listSent'>> = {}) {
  const check = acquirerBalanceCheck({ ...sides, acquirer: { ...sides.acquirer, ...changes } });
  const scope = { since: null, knownIds: [], signal: new AbortController().signal };
  return (await check.run(scope)).breaks.map(({ amountCents }) => amountCents);
}

test.each(['processing', 'failed'] as const)(
  'a return that is %s has moved no money yet',
  async (status) => {
    const { e2e } = await sides.aCompletedPayout();
    const returns = [aReturn({ status })];
    const listSent: Acquirer['listSent'] = async (page) => {
      const listed = await sides.acquirer.listSent(page);
      if (listed.kind === 'unknown') return listed;
      const items = listed.items.map((send) =>
        send.endToEndId === e2e ? { ...send, returns } : send,
      );
      return { ...listed, items };
    };
    expect(await run({ listSent })).toEqual([]);
  },
);
