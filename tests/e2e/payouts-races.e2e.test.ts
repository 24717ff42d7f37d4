import { randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { scaled, shareOf } from '@pixmesh/testkit/long-runs';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { expect, test } from 'vitest';

import { findViolations } from './find-violations.ts';
import { type ClientHistory, createClientHistory } from './client-history.ts';
import { balanceOf, type Merchant } from './mesh.ts';
import { aPayingMerchant, COST_CENTS, fund, waitForPayout } from './payout-calls.ts';

const CALLS = 100;
/** Each check reads all that the acquirer has ever recorded. */
const CHECKED_TOGETHER = 25;
/** How many of the calls the balance covers. */
const WINNERS = shareOf(
  scaled(
    [winnersOf(testSeed())],
    Array.from({ length: 1_000 }, (_, seed) => winnersOf(seed)),
  ),
);

test('of parallel payouts exactly those succeed that the balance covers, and it never shows less than zero', async () => {
  for (let first = 0; first < WINNERS.length; first += CHECKED_TOGETHER) {
    const history = createClientHistory();
    const winners = WINNERS.slice(first, first + CHECKED_TOGETHER);
    for (const count of winners) await raceForBalance(history, count);
    await eventually(async () => expect(await findViolations(history)).toEqual([]), 90_000);
  }
}, 7_200_000);

test('fifty parallel calls with one key make one payout and one order, and 49 of them say so', async () => {
  const history = createClientHistory();
  const merchant = await aPayingMerchant(10 * COST_CENTS);
  const key = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => history.createPayout(merchant, {}, key)),
  );
  expect(answers.map((one) => one.status)).toEqual(Array.from({ length: 50 }, () => 201));
  expect(new Set(answers.map((one) => one.body.id)).size).toBe(1);
  expect(answers.filter((one) => one.isReplayed).length).toBe(49);
  expect((await balanceOf(merchant)).available).toBe(9 * COST_CENTS);
  await waitForPayout(merchant, answers[0]?.id ?? '', 'completed');
  expect(await findViolations(history)).toEqual([]);
});

async function raceForBalance(history: ClientHistory, winners: number): Promise<void> {
  // One cent short of one more: amount and fee both count.
  const funds = (winners + 1) * COST_CENTS - 1;
  const merchant = await aPayingMerchant(funds);
  const keys = Array.from({ length: CALLS }, () => randomUUID());
  const watch = watchBalance(merchant);
  const answers = await Promise.all(
    keys.map((key) => history.createPayoutStubbornly(merchant, { reference: key }, key)),
  );
  const reads = await watch.stop();
  const won = answers.filter((one) => one.status === 201);
  const refused = answers.filter((one) => one.status === 400);
  expect([won.length, refused.length]).toEqual([winners, CALLS - winners]);
  for (const one of refused) expect(one.body.code).toBe('INSUFFICIENT_BALANCE');
  expect(reads.map((one) => one.available)).toSatisfy(neverGrows);
  expect(reads.at(-1)?.available).toBe(funds - winners * COST_CENTS);
  if (refused.length > 0) await fund(merchant, refused.length * COST_CENTS);
  const retried = await Promise.all(
    refused.map((one) => history.createPayoutStubbornly(merchant, { reference: one.key }, one.key)),
  );
  expect(retried.filter((one) => one.status === 201)).toHaveLength(CALLS - winners);
  console.log(`balance for ${winners}: ${won.length} x 201, ${reads.length} balances read`);
}

/** Reads the balance again and again until it is stopped; each read is checked in itself. */
function watchBalance(merchant: Merchant): { stop(): Promise<{ available: number }[]> } {
  const reads: { available: number }[] = [];
  const stopping = new AbortController();
  const reading = (async () => {
    while (!stopping.signal.aborted) reads.push(await balanceOf(merchant));
  })();
  return {
    async stop() {
      stopping.abort();
      await reading;
      reads.push(await balanceOf(merchant));
      return reads;
    },
  };
}

function neverGrows(values: readonly number[]): boolean {
  return values.every((value, index) => index === 0 || value <= (values[index - 1] ?? 0));
}

/** Spread over 0 to 100 in an order that repeats with every run. */
function winnersOf(seed: number): number {
  return (seed * 37) % (CALLS + 1);
}
