import { eventually } from '@pixmesh/testkit/eventually';
import { isLong, sampled, scaled } from '@pixmesh/testkit/long-runs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, expect, test } from 'vitest';

import { acquirer } from '../acquirer.ts';
import { clock, counted, disputesOf, readCounts } from '../acquirer-channels.ts';
import { findBreaks } from '../find-breaks.ts';
import { inParallel } from '@pixmesh/testkit/in-parallel';
import {
  aMerchant,
  createChargeStubbornly,
  type Json,
  type Merchant,
  readCharge,
  simulator,
  stack,
  v1,
  waitUntilPaid,
} from '../mesh.ts';
import { fund } from '../payout-calls.ts';
import { endedRefundsOf, requestRefund } from '../refund-calls.ts';

const HOUR_S = 3_600;
const AHEAD_S = 25 * HOUR_S;
const BEHIND_S = -HOUR_S;
const DAY_S = 86_400;
/** The shortest life that a charge may have. */
const SHORT_S = 60;
const OPEN_CHARGES = 40;
const AMOUNT_CENTS = 2_000;
/** How long calls are counted before and after a jump: longer than every period between checks on one machine. */
const WATCH_MS = scaled(6_000, 12_000);
/** A usual run does not wait for a minute: what is left of it is shortened in the database. */
const LEFT_S = 2;
/** Reconciliation reads everything once in each stretch, and by its own schedule perhaps once more. */
const BURST_FACTOR = 2;
const BURST_ROOM = 40;
const SETTLED_MS_MAX = 90_000;
const CALLS = ['getCharge', 'getReceived', 'listReceived', 'listDisputes', 'callback'] as const;
/** None of these is called while nothing is asked for. Reconciliation reads refunds, in bursts of its own. */
const UNASKED = ['issueCharge', 'refund', 'cancelCharge', 'sendPayout'] as const;

afterEach(async () => {
  await clock.reset();
  await simulator.clearFaults();
});

const JUMPS = [
  ['25 hours ahead', AHEAD_S],
  ['an hour back', BEHIND_S],
] as const;

// One of them in a usual run, by its seed.
test.each(sampled(JUMPS, 1))(
  'a jump of the acquirer’s clock %s makes no burst and loses nothing',
  async (_name, seconds) => {
    const merchant = await aMerchant();
    const short = await createChargeStubbornly(merchant, {
      expires_in: SHORT_S,
      amount: AMOUNT_CENTS,
    });
    const open = await openCharges(merchant);
    const paid = await fund(merchant, AMOUNT_CENTS);
    const before = await countQuietly();
    await clock.advance(seconds);
    const after = await countQuietly();
    console.log('calls before and after', JSON.stringify(before), JSON.stringify(after));
    for (const call of [...CALLS, ...UNASKED]) {
      const bound = BURST_FACTOR * (before[call] ?? 0) + BURST_ROOM;
      expect([call, after[call]]).toEqual([call, Math.min(after[call] ?? 0, bound)]);
    }
    for (const call of UNASKED) expect([call, after[call]]).toEqual([call, 0]);
    // Whatever the acquirer's clock says, ours has not moved: nothing else has expired, or failed.
    await expectPending(merchant, open);
    await payAround(merchant, seconds);
    await disputeAndRefund(merchant, paid);
    await expectExpiredByOurClock(merchant, short);
    await expectPending(merchant, open);
    await clock.reset();
    await inParallel(8, open.length, async (index) => {
      await acquirer.pay(open[index] ?? '');
      await waitUntilPaid(merchant, open[index] ?? '', SETTLED_MS_MAX);
    });
  },
  900_000,
);

async function openCharges(merchant: Merchant): Promise<string[]> {
  const ids: string[] = [];
  await inParallel(8, OPEN_CHARGES, async () => {
    const body = { amount: AMOUNT_CENTS, expires_in: DAY_S };
    ids.push((await createChargeStubbornly(merchant, body)).id);
  });
  return ids;
}

/** What is asked of the acquirer, and said by it, while nobody does anything. */
async function countQuietly(): Promise<Record<string, number>> {
  await simulator.setFaults(counted([...CALLS, ...UNASKED]));
  await Promise.all([delay(WATCH_MS), findBreaks()]);
  const counts = await readCounts();
  await simulator.clearFaults();
  return counts;
}

async function expectPending(merchant: Merchant, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const charge = await readCharge(merchant, id);
    expect([id, charge.status]).toEqual([id, 'pending']);
  }
}

/** Charges of before and after the jump can be paid: announced or not, and late by the acquirer's clock alone. */
async function payAround(merchant: Merchant, seconds: number): Promise<void> {
  const fresh = await createChargeStubbornly(merchant, { amount: AMOUNT_CENTS });
  await acquirer.pay(fresh.id);
  const charge: Json = await waitUntilPaid(merchant, fresh.id, SETTLED_MS_MAX);
  // The acquirer dates what it received (decision 221).
  const skewMs = Date.parse(charge.paid_at) - Date.now() - seconds * 1_000;
  expect(Math.abs(skewMs)).toBeLessThan(SETTLED_MS_MAX);
  const unheard = await createChargeStubbornly(merchant, { amount: AMOUNT_CENTS });
  await simulator.setFaults([{ operation: 'callback', fault: 'drop' }]);
  await acquirer.pay(unheard.id);
  await waitUntilPaid(merchant, unheard.id, SETTLED_MS_MAX);
  await simulator.clearFaults();
}

/** Refunds and disputes that the acquirer dates differently are seen all the same. */
async function disputeAndRefund(merchant: Merchant, chargeId: string): Promise<void> {
  const charge = await readCharge(merchant, chargeId);
  const refund = await requestRefund(chargeId, 500);
  expect(refund.status).toBe(201);
  const [ended] = await endedRefundsOf(chargeId, SETTLED_MS_MAX);
  expect(ended.status).toBe('completed');
  const { body: dispute } = await acquirer.openDispute({
    end_to_end_id: charge.pix.end_to_end_id,
    reason: 'scam',
  });
  await eventually(async () => {
    expect((await readCharge(merchant, chargeId)).status).toBe('infraction');
    expect((await disputesOf(chargeId))[0]?.status).toBe('open');
  }, SETTLED_MS_MAX);
  await acquirer.decideDispute(dispute.id, { outcome: 'won' });
  await eventually(async () => {
    expect((await readCharge(merchant, chargeId)).status).toBe('paid');
  }, SETTLED_MS_MAX);
}

/** Lets a charge expire sooner, by our clock alone; answers when. */
async function shortenLife(id: string): Promise<number> {
  const client = new Client({ connectionString: stack().postgres_url });
  await client.connect();
  const { rows } = await client.query<{ expires_at: Date }>(
    `update charges.charges set expires_at = now() + $2 * interval '1 s' where id = $1 returning expires_at`,
    [id, LEFT_S],
  );
  await client.end();
  return rows[0]?.expires_at.getTime() ?? Number.POSITIVE_INFINITY;
}

async function expectExpiredByOurClock(merchant: Merchant, short: Json): Promise<void> {
  const expiresMs = isLong ? Date.parse(short.expires_at) : await shortenLife(short.id);
  await eventually(async () => {
    const charge = await readCharge(merchant, short.id);
    const isDue = Date.now() > expiresMs;
    expect([charge.status, isDue]).toEqual(['expired', true]);
  }, SETTLED_MS_MAX);
  const listed = await v1(merchant, 'GET /charges?status=expired');
  expect(listed.body.data.map(({ id }: Json) => id)).toEqual([short.id]);
}
