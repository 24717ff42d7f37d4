import { randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { sampled, scaled } from '@pixmesh/testkit/long-runs';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { expect, test } from 'vitest';

import { findViolations } from './find-violations.ts';
import { createClientHistory } from './client-history.ts';
import { inParallel } from '@pixmesh/testkit/in-parallel';
import { admin, availableOf, type FaultRule, simulator, v1 } from './mesh.ts';
import { AMOUNT_CENTS, aPayingMerchant, COST_CENTS, fund, waitForPayout } from './payout-calls.ts';

/** From the acquirer's recovery to the last outcome. */
const RECOVERY_MS_MAX = 60_000;
const SEEDS = scaled(1, 20);
const PAYOUTS_PER_SEED = scaled(40, 500);
const CLIENTS = 8;

/** What an acquirer may do at sending; a usual run takes one, by its seed. */
const FAULTS: readonly [string, { fault: string; status?: number }][] = [
  ['hangs', { fault: 'hang' }],
  ['answers 500 after the effect', { fault: 'error_after', status: 500 }],
  ['answers 500 before the effect', { fault: 'error_before', status: 500 }],
  ['answers garbage', { fault: 'garbage' }],
  ['resets the connection', { fault: 'reset' }],
];

test.each(sampled(FAULTS, 1))(
  'an acquirer that %s at sending gets one order for one payout',
  async (_name, rule) => {
    const history = createClientHistory();
    const hookPath = `/${randomUUID()}`;
    const merchant = await aPayingMerchant(COST_CENTS);
    await simulator.addFaults(merchant, [{ operation: 'sendPayout', count: 1, ...rule }]);
    const webhook_url = `http://a.receiver.example.com${hookPath}`;
    const created = await history.createPayout(merchant, { webhook_url });
    // The answer never depends on the acquirer (decision 117).
    expect([created.status, created.body.status]).toEqual([201, 'processing']);
    await waitForPayout(merchant, created.id, 'completed');
    await eventually(async () => expect(await findViolations(history, { hookPath })).toEqual([]));
    expect(await availableOf(merchant)).toBe(0);
  },
);

test('status checks that fail as well only delay the outcome', async () => {
  const history = createClientHistory();
  const merchant = await aPayingMerchant(COST_CENTS);
  await simulator.addFaults(merchant, [
    { operation: 'sendPayout', count: 1, fault: 'error_after', status: 500 },
    { operation: 'getPayout', count: 2, fault: 'error_before', status: 503 },
    { operation: 'callback', fault: 'drop' },
  ]);
  const created = await history.createPayout(merchant);
  await waitForPayout(merchant, created.id, 'completed', RECOVERY_MS_MAX);
  expect(await findViolations(history)).toEqual([]);
});

test('a refusal after an unknown call fails the payout only once it is certain', async () => {
  const history = createClientHistory();
  const merchant = await aPayingMerchant(COST_CENTS);
  await simulator.addFaults(merchant, [
    { operation: 'sendPayout', count: 1, fault: 'error_before', status: 500 },
    { operation: 'sendPayout', fault: 'refusal', code: 'pagamento_negado' },
  ]);
  const created = await history.createPayout(merchant);
  const refused = await eventually(async () => {
    const seen = await admin('GET', `/admin/payouts/${created.id}`);
    expect(seen.body.send.uncounted_refusal).toContain('pagamento_negado');
    return seen.body;
  }, RECOVERY_MS_MAX);
  expect([refused.status, refused.send.unanswered_puts]).toEqual(['processing', 2]);
  expect(await availableOf(merchant)).toBe(0);
  await waitForPayout(merchant, created.id, 'failed', RECOVERY_MS_MAX);
  await eventually(async () => expect(await availableOf(merchant)).toBe(COST_CENTS));
  expect(await findViolations(history)).toEqual([]);
});

test('random outcomes of every kind, with and without the effect, end in one settlement or none', async () => {
  const firstSeed = testSeed();
  for (let seed = firstSeed; seed < firstSeed + SEEDS; seed += 1) {
    const history = createClientHistory();
    const merchant = await aPayingMerchant(0);
    await fund(merchant, PAYOUTS_PER_SEED * COST_CENTS);
    const faults = await simulator.addFaults(merchant, randomFaults(), seed);
    await inParallel(CLIENTS, PAYOUTS_PER_SEED, async () => {
      await history.createPayoutStubbornly(merchant);
    });
    await faults.remove();
    const recoveredMs = performance.now();
    await eventually(async () => {
      const open = await v1(merchant, 'GET /payouts?status=processing&limit=1');
      expect(open.body.data).toEqual([]);
    }, RECOVERY_MS_MAX);
    const seconds = ((performance.now() - recoveredMs) / 1000).toFixed(1);
    const violations = await findViolations(history);
    const failed = await countFailed(merchant);
    console.log(`seed ${seed}: ${PAYOUTS_PER_SEED} payouts, ${failed} refused, last ${seconds} s`);
    expect([seed, violations]).toEqual([seed, []]);
  }
}, 3_600_000);

/** Faults of orders, look-ups and callbacks together; a refusal among them, so that both ends occur. */
function randomFaults(): FaultRule[] {
  const send = { operation: 'sendPayout' };
  return [
    { ...send, fault: 'error_after', status: 500, probability: 0.15 },
    { ...send, fault: 'error_before', status: 502, probability: 0.1 },
    { ...send, fault: 'hang', delay_ms: 10_000, probability: 0.02 },
    { ...send, fault: 'reset', probability: 0.08 },
    { ...send, fault: 'garbage', probability: 0.08 },
    { ...send, fault: 'refusal', code: 'pagamento_negado', probability: 0.05 },
    { operation: 'getPayout', fault: 'error_before', status: 503, probability: 0.1 },
    { operation: 'callback', fault: 'drop', probability: 0.2 },
    { operation: 'callback', fault: 'duplicate', probability: 0.2 },
  ];
}

async function countFailed(merchant: Parameters<typeof v1>[0]): Promise<number> {
  const failed = await v1(merchant, 'GET /payouts?status=failed&limit=100');
  for (const one of failed.body.data) expect(one.amount).toBe(AMOUNT_CENTS);
  return failed.body.data.length;
}
