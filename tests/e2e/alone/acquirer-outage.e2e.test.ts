import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { afterEach, expect, test } from 'vitest';

import { acquirer } from '../acquirer.ts';
import { aSubscribedMerchant, type SubscribedMerchant } from '../../lives/subscribed-merchant.ts';
import type { Life } from '../../lives/live-one.ts';
import { settleLives } from '../../lives/settle-lives.ts';
import { closed, disputesOf } from '../acquirer-channels.ts';
import { inParallel } from '@pixmesh/testkit/in-parallel';
import { createChargeStubbornly, readCharge, simulator } from '../mesh.ts';
import { requestRefund } from '../refund-calls.ts';

/** From the acquirer's recovery until everything has settled (I16). */
const RECOVERY_MS_MAX = 60_000;
const OUTAGE_MS = scaled(2_000, 600_000);
/** Charges that a usual moment has; the outage leaves ten times as many behind. */
const USUAL = scaled(4, 150);
const BACKLOG = 10 * USUAL;
const AMOUNT_CENTS = 2_000;
const PART_CENTS = 500;
const AT_ONCE = 8;
/** Who watch the backlog settle. */
const WATCHERS = 2;

/** What becomes of a charge while the acquirer is unreachable, in turn. */
const OUTCOMES = ['paid', 'returned', 'lost', 'disputed', 'refunded'] as const;
type Outcome = (typeof OUTCOMES)[number];

type PlannedLife = Life & { outcome: Outcome; endToEndId: string };

afterEach(() => simulator.clearFaults());

test('an acquirer that was unreachable for a while is caught up with, each charge once', async () => {
  const merchant = await aSubscribedMerchant();
  const usual = await settleUsual(merchant);
  const backlog = await aBacklog(merchant);
  const channels = [
    'callback',
    'getCharge',
    'getReceived',
    'listReceived',
    'listDisputes',
  ] as const;
  await simulator.setFaults(closed(channels));
  const downFromMs = performance.now();
  await inParallel(AT_ONCE, BACKLOG, async (index) => {
    // Spread over the outage, as payers are.
    const dueMs = downFromMs + (OUTAGE_MS * index) / BACKLOG;
    await eventually(() => expect(performance.now()).toBeGreaterThan(dueMs), OUTAGE_MS);
    await carryOut(backlog[index] as PlannedLife);
  });
  // Callbacks of the outage are lost for good.
  await simulator.clearFaults();
  const recoveredMs = performance.now();
  const lives = [...usual, ...backlog];
  await waitUntilSettled(merchant, backlog, recoveredMs + RECOVERY_MS_MAX);
  const seconds = ((performance.now() - recoveredMs) / 1_000).toFixed(1);
  console.log(`${BACKLOG} charges settled ${seconds} s after ${OUTAGE_MS / 1_000} s of outage`);
  expect(await settleLives(merchant, lives, RECOVERY_MS_MAX)).toEqual([]);
}, 3_600_000);

/** A usual moment: charges that are paid and announced. */
async function settleUsual(merchant: SubscribedMerchant): Promise<Life[]> {
  const lives: Life[] = [];
  await inParallel(AT_ONCE, USUAL, async () => {
    const chargeId = await aPaidCharge(merchant);
    lives.push({ chargeId, amount: AMOUNT_CENTS, actions: ['paid'] });
  });
  return lives;
}

/** Charges for the outage. What an operator refunds then has been paid before. */
async function aBacklog(merchant: SubscribedMerchant): Promise<PlannedLife[]> {
  const backlog: PlannedLife[] = [];
  await inParallel(AT_ONCE, BACKLOG, async (index) => {
    const outcome = OUTCOMES[index % OUTCOMES.length] ?? 'paid';
    const chargeId =
      outcome === 'refunded'
        ? await aPaidCharge(merchant)
        : (await createChargeStubbornly(merchant, { amount: AMOUNT_CENTS })).id;
    backlog.push({ chargeId, amount: AMOUNT_CENTS, actions: [outcome], outcome, endToEndId: '' });
  });
  return backlog;
}

async function aPaidCharge(merchant: SubscribedMerchant): Promise<string> {
  const { id } = await createChargeStubbornly(merchant, { amount: AMOUNT_CENTS });
  await acquirer.pay(id);
  await eventually(async () => {
    expect((await readCharge(merchant, id)).status).toBe('paid');
  }, RECOVERY_MS_MAX);
  return id;
}

async function carryOut(life: PlannedLife): Promise<void> {
  const { chargeId, outcome } = life;
  if (outcome === 'refunded') {
    const refund = await requestRefund(chargeId, PART_CENTS);
    expect([refund.status, refund.body.status]).toEqual([201, 'processing']);
    return;
  }
  const paid = await acquirer.pay(chargeId, { times: 2 });
  life.endToEndId = paid.body.end_to_end_id;
  if (outcome === 'returned') await acquirer.returnPix(life.endToEndId, { amount: PART_CENTS });
  if (outcome !== 'disputed' && outcome !== 'lost') return;
  const dispute = { end_to_end_id: life.endToEndId, reason: 'scam' };
  const { body } = await acquirer.openDispute(dispute);
  if (outcome === 'lost') await acquirer.decideDispute(body.id, { outcome: 'lost' });
}

/**
 * Until each charge says what happened to it, one after the other: whoever asks for all of them all the time keeps them
 * from settling.
 */
async function waitUntilSettled(
  merchant: SubscribedMerchant,
  backlog: readonly PlannedLife[],
  untilMs: number,
): Promise<void> {
  await inParallel(WATCHERS, backlog.length, async (index) => {
    const life = backlog[index] as PlannedLife;
    await eventually(async () => {
      const actual = await describe(merchant, life);
      expect([index, life.chargeId, actual]).toEqual([index, life.chargeId, SETTLED[life.outcome]]);
    }, untilMs - performance.now());
  });
}

async function describe(
  merchant: SubscribedMerchant,
  { chargeId, outcome }: PlannedLife,
): Promise<string> {
  const { status, refunded_amount } = await readCharge(merchant, chargeId);
  const disputes = outcome === 'lost' ? await disputesOf(chargeId) : [];
  return [status, refunded_amount, ...disputes.map((one) => one.status)].join(' ');
}

const SETTLED: Readonly<Record<Outcome, string>> = {
  paid: 'paid 0',
  returned: `paid ${PART_CENTS}`,
  lost: 'charged_back 0 lost',
  disputed: 'infraction 0',
  refunded: `paid ${PART_CENTS}`,
};
