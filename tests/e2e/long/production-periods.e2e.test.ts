import { eventually } from '@pixmesh/testkit/eventually';
import { expect, test } from 'vitest';

import { acquirer } from '../acquirer.ts';
import { clock } from '../acquirer-channels.ts';
import {
  admin,
  availableOf,
  call,
  type Json,
  type Merchant,
  readCharge,
  simulator,
  stack,
} from '../mesh.ts';
import { bootOwnStack } from '../own-stack.ts';
import {
  AMOUNT_CENTS,
  aPayingMerchant,
  createPayout,
  fund,
  readPayout,
  waitForPayout,
} from '../payout-calls.ts';

/**
 * A stack of its own, without the short periods that one machine sets: what the acquirer changes after the end is found
 * by the periods of production, and waited for in real time. The acquirer's clock makes orders old.
 */
const PERIODS = { PIXMESH_PERIODS: 'production' };
/** The bound of the clock that matters; what is waited for comes within two rounds of a walk. */
const FOUND_MS_MAX = 600_000;
const MINUTE_S = 60;
const DAY_S = 86_400;
const REFUNDED_CENTS = 700;

bootOwnStack('production', PERIODS);

test(
  'what the acquirer changes after the end, without a callback, is credited or told within ten minutes',
  async () => {
    const merchant = await aPayingMerchant(20_000);
    const charge = await ago(40 * DAY_S, () => fund(merchant, 5_000));
    const oldPayout = await ago(5 * DAY_S, () => anEndedPayout(merchant, 'completed'));
    const [returned, settled, rejected] = await ago(31 * MINUTE_S, async () => [
      await anEndedPayout(merchant, 'completed'),
      await anEndedPayout(merchant, 'completed'),
      await anEndedPayout(merchant, 'failed'),
    ]);
    const before = await availableOf(merchant);
    await simulator.setFaults([{ operation: 'callback', fault: 'drop' }]);
    for (const id of [oldPayout, returned]) {
      const { end_to_end_id: endToEndId } = await readPayout(merchant, id);
      expect((await acquirer.returnPix(endToEndId, {})).status).toBe(201);
    }
    await contradict(settled, 'NAO_REALIZADO');
    await contradict(rejected, 'REALIZADO');
    const { pix } = await readCharge(merchant, charge);
    await acquirer.returnPix(pix.end_to_end_id, { amount: REFUNDED_CENTS, natureza: 'ORIGINAL' });
    const changedMs = Date.now();

    const foundMs: Record<string, number> = {};
    await Promise.all([
      found('payouts that came back', async () => {
        // Both in full, less what went back of the charge once that is booked too.
        expect(await availableOf(merchant)).toBe(before + 2 * AMOUNT_CENTS - REFUNDED_CENTS);
      }),
      found('completed, then failed', () => expectSuspense(settled, 'failed_after_completed')),
      found('failed, then completed', () => expectSuspense(rejected, 'completed_after_failed')),
    ]);
    console.log('seconds until found', JSON.stringify(foundMs));
    for (const id of [returned, settled, oldPayout]) {
      expect((await readPayout(merchant, id)).status).toBe('completed');
    }
    expect((await readPayout(merchant, rejected)).status).toBe('failed');

    async function found(name: string, probe: () => Promise<void>): Promise<void> {
      await eventually(probe, FOUND_MS_MAX);
      foundMs[name] = Math.round((Date.now() - changedMs) / 1_000);
    }
  },
  FOUND_MS_MAX + 180_000,
);

/** Does something so many seconds ago, by the acquirer's clock. */
async function ago<T>(seconds: number, act: () => Promise<T>): Promise<T> {
  await clock.advance(-seconds);
  try {
    return await act();
  } finally {
    await clock.reset();
  }
}

async function anEndedPayout(merchant: Merchant, status: 'completed' | 'failed'): Promise<string> {
  const rule = { operation: 'settlePayout', fault: 'refusal' };
  const fault = status === 'failed' ? await simulator.addFaults(merchant, [rule]) : null;
  const { status: answered, body } = await createPayout(merchant);
  expect(answered).toBe(201);
  await waitForPayout(merchant, body.id, status, 60_000);
  await fault?.remove();
  return body.id;
}

async function contradict(id: string, status: string): Promise<void> {
  const url = `${stack().simulator_url}/control/sends/${id}/contradict`;
  const answer = await call(url, { method: 'POST', body: { status } });
  expect(answer.status).toBe(200);
}

/** An operator is told, and the money stands in suspense. */
async function expectSuspense(id: string, contradiction: string): Promise<void> {
  const { body: payout } = await admin('GET', `/admin/payouts/${id}`);
  expect(payout.contradiction).toBe(contradiction);
  const { body: items } = await admin('GET', '/admin/suspense');
  expect(items.data.map(({ payout_id }: Json) => payout_id)).toContain(id);
}
