import { isLong, scaled, shareOf } from '@pixmesh/testkit/long-runs';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { expect, test } from 'vitest';

import { seededRandom } from '../fuzz/seeded-random.ts';
import { aSubscribedMerchant } from '../lives/subscribed-merchant.ts';
import { type Life, liveOne } from '../lives/live-one.ts';
import { settleLives } from '../lives/settle-lives.ts';
import { inParallel } from '@pixmesh/testkit/in-parallel';
import { type FaultRule, type Merchant, simulator } from './mesh.ts';

/** The seed of the run comes first: a week of runs draws what one long run does. */
const SEEDS = shareOf(Array.from({ length: scaled(1, 20) }, (_, index) => testSeed() + index));
const LIVES_PER_SEED = scaled(40, 1_000);
const AT_ONCE = 16;
/** Once faults stop, nothing rests in a transient state for longer (I16). */
const REST_MS_MAX = 90_000;
/** Faults that come and go while a seed's charges live; with and without their effect. */
const FAULT = { probability: 0.04 } as const;

test(`the acquirer, the ledger, the charges and the events tell the same of ${SEEDS.length} x ${LIVES_PER_SEED} random lives`, async () => {
  for (const seed of SEEDS) {
    const merchant = await aSubscribedMerchant();
    const broken = await simulator.addFaults(merchant, faults(), seed);
    const lives = await liveAll(merchant, seed);
    await broken.remove();
    expect([seed, await settleLives(merchant, lives, REST_MS_MAX)]).toEqual([seed, []]);
    if (isLong) console.log(`seed ${seed}: ${lives.length} lives agree`);
  }
  console.log(`${SEEDS.length} seeds from ${testSeed()} (PIXMESH_TEST_SEED repeats them)`);
}, 7_200_000);

async function liveAll(merchant: Merchant, seed: number): Promise<Life[]> {
  const lives: Life[] = [];
  await inParallel(AT_ONCE, LIVES_PER_SEED, async (index) => {
    lives.push(await liveOne(merchant, seededRandom(seed * 65_537 + index)));
  });
  return lives;
}

function faults(): FaultRule[] {
  const calls = ['issueCharge', 'getCharge', 'cancelCharge', 'refund', 'getRefund', 'listDisputes'];
  return [
    ...calls.flatMap((operation) => [
      { ...FAULT, operation, fault: 'error_before', status: 503 },
      { ...FAULT, operation, fault: 'error_after', status: 500 },
      { ...FAULT, operation, fault: 'reset' },
      { ...FAULT, operation, fault: 'latency', delay_ms: 300 },
    ]),
    { operation: 'callback', fault: 'drop', probability: 0.15 },
    { operation: 'callback', fault: 'duplicate', probability: 0.15 },
    { operation: 'callback', fault: 'reorder', probability: 0.15 },
    { operation: 'callback', fault: 'delay', probability: 0.1, delay_ms: 500 },
  ];
}
