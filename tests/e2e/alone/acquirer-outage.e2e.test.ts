import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { afterEach, expect, test } from 'vitest';

import { acquirer } from '../acquirer.ts';
import { aListeningMerchant, type ListeningMerchant } from '../../lives/subscribed-merchant.ts';
import type { Life } from '../../lives/live-one.ts';
import { settleLives } from '../../lives/settle-lives.ts';
import { expectNoBreaks } from '../find-breaks.ts';
import { closed, disputesOf } from '../acquirer-channels.ts';
import { inParallel } from '../in-parallel.ts';
import { createChargeStubbornly, readCharge, simulator } from '../mesh.ts';
import { requestRefund } from '../refund-calls.ts';

/** From the acquirer's recovery until everything has settled (I16). */
const RECOVERY_MS_MAX = 60_000;
const SILENCE_MS = scaled(2_000, 600_000);
/** Charges that a usual moment has; the silence leaves ten times as many behind. */
const USUAL = scaled(4, 150);
const BACKLOG = 10 * USUAL;
const AMOUNT_CENTS = 2_000;
const PART_CENTS = 500;
const AT_ONCE = 8;
/** Who watch the backlog settle. */
const WATCHERS = 2;

/** What becomes of a charge while nothing can be heard of it, in turn. */
const FATES = ['paid', 'returned', 'lost', 'disputed', 'refunded'] as const;
type Fate = (typeof FATES)[number];

type Fated = Life & { fate: Fate; endToEndId: string };

afterEach(() => simulator.clearFaults());

test('an acquirer that told nothing for a while is caught up with, each charge once', async () => {
  const merchant = await aListeningMerchant();
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
  const silentFromMs = performance.now();
  await inParallel(AT_ONCE, BACKLOG, async (index) => {
    // Spread over the silence, as payers are.
    const dueMs = silentFromMs + (SILENCE_MS * index) / BACKLOG;
    await eventually(() => expect(performance.now()).toBeGreaterThan(dueMs), SILENCE_MS);
    await befall(backlog[index] as Fated);
  });
  // Callbacks of the silence are lost for good.
  await simulator.clearFaults();
  const recoveredMs = performance.now();
  const lives = [...usual, ...backlog];
  await waitUntilSettled(merchant, backlog, recoveredMs + RECOVERY_MS_MAX);
  const seconds = ((performance.now() - recoveredMs) / 1_000).toFixed(1);
  console.log(`${BACKLOG} charges settled ${seconds} s after ${SILENCE_MS / 1_000} s of silence`);
  expect(await settleLives(merchant, lives, RECOVERY_MS_MAX)).toEqual([]);
  await expectNoBreaks();
}, 3_600_000);

/** A usual moment: charges that are paid and heard of. */
async function settleUsual(merchant: ListeningMerchant): Promise<Life[]> {
  const lives: Life[] = [];
  await inParallel(AT_ONCE, USUAL, async () => {
    const chargeId = await aPaidCharge(merchant);
    lives.push({ chargeId, amount: AMOUNT_CENTS, deeds: ['paid'] });
  });
  return lives;
}

/** Charges for the silence. What an operator refunds then has been paid before. */
async function aBacklog(merchant: ListeningMerchant): Promise<Fated[]> {
  const backlog: Fated[] = [];
  await inParallel(AT_ONCE, BACKLOG, async (index) => {
    const fate = FATES[index % FATES.length] ?? 'paid';
    const chargeId =
      fate === 'refunded'
        ? await aPaidCharge(merchant)
        : (await createChargeStubbornly(merchant, { amount: AMOUNT_CENTS })).id;
    backlog.push({ chargeId, amount: AMOUNT_CENTS, deeds: [fate], fate, endToEndId: '' });
  });
  return backlog;
}

async function aPaidCharge(merchant: ListeningMerchant): Promise<string> {
  const { id } = await createChargeStubbornly(merchant, { amount: AMOUNT_CENTS });
  await acquirer.pay(id);
  await eventually(async () => {
    expect((await readCharge(merchant, id)).status).toBe('paid');
  }, RECOVERY_MS_MAX);
  return id;
}

async function befall(fated: Fated): Promise<void> {
  const { chargeId, fate } = fated;
  if (fate === 'refunded') {
    const refund = await requestRefund(chargeId, PART_CENTS);
    expect([refund.status, refund.body.status]).toEqual([201, 'processing']);
    return;
  }
  const paid = await acquirer.pay(chargeId, { times: 2 });
  fated.endToEndId = paid.body.end_to_end_id;
  if (fate === 'returned') await acquirer.returnPix(fated.endToEndId, { amount: PART_CENTS });
  if (fate !== 'disputed' && fate !== 'lost') return;
  const dispute = { end_to_end_id: fated.endToEndId, reason: 'scam' };
  const { body } = await acquirer.openDispute(dispute);
  if (fate === 'lost') await acquirer.decideDispute(body.id, { outcome: 'lost' });
}

/**
 * Until each charge says what has befallen it, one after the other: whoever asks for all of them all the time keeps them
 * from settling.
 */
async function waitUntilSettled(
  merchant: ListeningMerchant,
  backlog: readonly Fated[],
  untilMs: number,
): Promise<void> {
  await inParallel(WATCHERS, backlog.length, async (index) => {
    const fated = backlog[index] as Fated;
    await eventually(async () => {
      const told = await toldBy(merchant, fated);
      expect([index, fated.chargeId, told]).toEqual([index, fated.chargeId, SETTLED[fated.fate]]);
    }, untilMs - performance.now());
  });
}

async function toldBy(merchant: ListeningMerchant, { chargeId, fate }: Fated): Promise<string> {
  const { status, refunded_amount } = await readCharge(merchant, chargeId);
  const disputes = fate === 'lost' ? await disputesOf(chargeId) : [];
  return [status, refunded_amount, ...disputes.map((one) => one.status)].join(' ');
}

const SETTLED: Readonly<Record<Fate, string>> = {
  paid: 'paid 0',
  returned: `paid ${PART_CENTS}`,
  lost: 'charged_back 0 lost',
  disputed: 'infraction 0',
  refunded: `paid ${PART_CENTS}`,
};
