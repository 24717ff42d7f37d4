import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { expect, test } from 'vitest';

import { acquirer } from './acquirer.ts';
import { balancesOf, disputesOf, noticeOf } from './acquirer-channels.ts';
import { sum } from './verify-payout.ts';
import { aMerchant, type Answer, type Json, type Merchant, readCharge, simulator } from './mesh.ts';
import { fund } from './payout-calls.ts';
import { endedRefundsOf, requestRefund } from './refund-calls.ts';

const CALLS = 32;
const PART_CENTS = 500;
const AMOUNT_CENTS = 10_000;
/** Money of another charge: only the Pix itself bounds its refunds. */
const OTHER_CENTS = 20_000;
const FIT = AMOUNT_CENTS / PART_CENTS;
const ROUNDS = scaled(1, 100);
const RACES = scaled(2, 100);
const ENDED_MS_MAX = 90_000;

test('of parallel refunds exactly those succeed that the Pix covers, with one return each', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { merchant, chargeId, endToEndId } = await aPaidCharge();
    const answers = await Promise.all(
      Array.from({ length: CALLS }, () => requestRefund(chargeId, PART_CENTS)),
    );
    const accepted = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => `${status} ${body.code}`)).toEqual(
      refused.map(() => '422 REFUND_EXCEEDS_CHARGE'),
    );
    expect(accepted).toHaveLength(FIT);
    const refunds = await endedRefundsOf(chargeId, ENDED_MS_MAX);
    expect(refunds.map(({ id }) => id).toSorted()).toEqual(
      accepted.map(({ body }) => body.id).toSorted(),
    );
    expect(new Set(refunds.map(({ status }) => status))).toEqual(new Set(['completed']));
    await expectOneReturnEach(endToEndId, refunds);
    await eventually(async () => {
      const charge = await readCharge(merchant, chargeId);
      expect([charge.status, charge.refunded_amount]).toEqual(['refunded', AMOUNT_CENTS]);
      expect(await balancesOf(merchant.accountId)).toEqual(only(OTHER_CENTS));
    }, ENDED_MS_MAX);
  }
}, 3_600_000);

test('parallel repeats of one refund are one refund, and all but one of them say so', async () => {
  const { merchant, chargeId, endToEndId } = await aPaidCharge();
  const key = `refund-${chargeId}`;
  const answers = await Promise.all(
    Array.from({ length: CALLS }, () => requestRefund(chargeId, PART_CENTS, key)),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  const replays = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
  expect(replays).toHaveLength(CALLS - 1);
  const refunds = await endedRefundsOf(chargeId, ENDED_MS_MAX);
  expect(refunds).toHaveLength(1);
  await expectOneReturnEach(endToEndId, refunds);
  await eventually(async () => {
    const left = AMOUNT_CENTS - PART_CENTS + OTHER_CENTS;
    expect(await balancesOf(merchant.accountId)).toEqual(only(left));
  }, ENDED_MS_MAX);
});

test('refunds raced with a decision of the MED never return more than the Pix', async () => {
  for (let race = 0; race < RACES; race += 1) {
    const { merchant, chargeId, endToEndId } = await aPaidCharge();
    const dispute = await acquirer.openDispute({ end_to_end_id: endToEndId, reason: 'scam' });
    // Every other race begins before the mesh has heard of the dispute.
    if (race % 2 === 1) await waitForStatus(merchant, chargeId, 'infraction');
    const answers = await refundWhileDecided(chargeId, {
      disputeId: dispute.body.id,
      after: Math.floor((race * CALLS) / RACES),
    });
    for (const { status, body } of answers.filter((one) => one.status !== 201)) {
      expect(['409 CHARGE_NOT_REFUNDABLE', '422 REFUND_EXCEEDS_CHARGE']).toContain(
        `${status} ${body.code}`,
      );
    }
    const refunds = await endedRefundsOf(chargeId, ENDED_MS_MAX);
    const { original, med } = await returnedOf(endToEndId);
    expect(original + med).toBeLessThanOrEqual(AMOUNT_CENTS);
    const completed = refunds.filter(({ status }) => status === 'completed');
    expect(sum(completed.map(({ amount }) => amount))).toBe(original);
    await expectOneReturnEach(endToEndId, completed);
    await eventually(async () => {
      const charge = await readCharge(merchant, chargeId);
      const status = original === AMOUNT_CENTS ? 'refunded' : 'charged_back';
      expect([charge.status, charge.refunded_amount]).toEqual([status, original]);
      const [seen] = await disputesOf(chargeId);
      expect([seen?.status, seen?.returned_amount]).toEqual(['lost', med]);
      const left = AMOUNT_CENTS - original - med + OTHER_CENTS;
      expect(await balancesOf(merchant.accountId)).toEqual(only(left));
    }, ENDED_MS_MAX);
    const failed = refunds.length - completed.length;
    console.log(`race ${race}: ${completed.length} refunded, ${failed} failed, MED ${med} cents`);
  }
}, 3_600_000);

/** The MED decides once so many of the parallel refunds have been answered. */
async function refundWhileDecided(
  chargeId: string,
  decision: { disputeId: string; after: number },
): Promise<Answer[]> {
  let answered = 0;
  const due = Promise.withResolvers<void>();
  const count = (): void => {
    if (answered >= decision.after) due.resolve();
    answered += 1;
  };
  count();
  const deciding = due.promise.then(
    async () => await acquirer.decideDispute(decision.disputeId, { outcome: 'lost' }),
  );
  const answers = await Promise.all(
    Array.from({ length: CALLS }, async () => {
      const answer = await requestRefund(chargeId, PART_CENTS);
      count();
      return answer;
    }),
  );
  await deciding;
  return answers;
}

type PaidCharge = { merchant: Merchant; chargeId: string; endToEndId: string };

async function aPaidCharge(): Promise<PaidCharge> {
  const merchant = await aMerchant();
  await fund(merchant, OTHER_CENTS);
  const chargeId = await fund(merchant, AMOUNT_CENTS);
  const charge = await readCharge(merchant, chargeId);
  return { merchant, chargeId, endToEndId: charge.pix.end_to_end_id };
}

async function waitForStatus(merchant: Merchant, id: string, status: string): Promise<void> {
  await eventually(
    async () => expect((await readCharge(merchant, id)).status).toBe(status),
    ENDED_MS_MAX,
  );
}

/** The acquirer carried out each of these refunds once, and no other of the merchant's. */
async function expectOneReturnEach(endToEndId: string, refunds: readonly Json[]): Promise<void> {
  const returns: Json[] = (await noticeOf(endToEndId)).devolucoes ?? [];
  const own = returns.filter((one) => one.natureza === 'ORIGINAL' && one.status === 'DEVOLVIDO');
  expect(own.map(({ id }) => id).toSorted()).toEqual(
    refunds.map(({ id }) => id.replaceAll('-', '')).toSorted(),
  );
  const { original, originals } = await returnedOf(endToEndId);
  expect([original, originals]).toEqual([PART_CENTS * refunds.length, refunds.length]);
}

/** What the acquirer's journal says went back of a Pix. */
async function returnedOf(endToEndId: string) {
  const journal = await simulator.journal();
  const returned = journal.filter(
    (entry) => entry.kind === 'returned' && entry.end_to_end_id === endToEndId,
  );
  const originals = returned.filter(({ natureza }) => natureza === 'ORIGINAL');
  const original = sum(originals.map(({ amount }) => amount));
  const med = sum(returned.map(({ amount }) => amount)) - original;
  return { original, originals: originals.length, med };
}

function only(available: number): object {
  return { available, pending: 0, held: 0, blocked: 0, suspense: 0 };
}
