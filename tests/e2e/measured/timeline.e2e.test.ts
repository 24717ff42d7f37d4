import { performance } from 'node:perf_hooks';

import { eventually } from '@pixmesh/testkit/eventually';
import { expect, test } from 'vitest';

import { aSubscribedMerchant } from '../../lives/subscribed-merchant.ts';
import { aHook, register } from '../hooks.ts';
import {
  admin,
  createChargeStubbornly,
  type Json,
  type Merchant,
  readCharge,
  received,
  simulator,
  stack,
  call,
  waitUntilPaid,
} from '../mesh.ts';
import {
  AMOUNT_CENTS,
  aPayingMerchant,
  COST_CENTS,
  createPayout,
  fund,
  returnAtAcquirer,
  waitForPayout,
} from '../payout-calls.ts';
import { endedRefundsOf, requestRefund } from '../refund-calls.ts';

const PATIENCE_MS = 60_000;
/** What a timeline may take; of several calls the one in the middle. */
const ANSWER_MS_MAX = 200;
const CALLS = 9;
const CHARGE_CENTS = 2_000;
const REFUND_CENTS = 500;
const LOST_CENTS = 1_500;

/** Its order within a millisecond: the cause before what it led to. */
const KINDS = ['journal', 'state', 'event', 'delivery', 'attempt'];

async function timelineOf(kind: 'charges' | 'payouts', id: string): Promise<Json> {
  const answer = await admin('GET', `/admin/${kind}/${id}/timeline`);
  expect([answer.status, answer.body.object]).toEqual([200, 'timeline']);
  expect([answer.body.resource_id, answer.body.truncated]).toEqual([id, false]);
  return answer.body;
}

/** Steps of some kinds, as `kind what`; a delivery is told by its event alone. */
function stepsOf(timeline: Json, ...kinds: string[]): string[] {
  return timeline.entries
    .filter((step: Json) => kinds.includes(step.kind))
    .map((step: Json) => `${step.kind} ${step.what.split(' → http')[0]}`);
}

/** Each step once, in order of time, told of one of these resources only, each named at least once. */
function expectSound(timeline: Json, resources: string[]): void {
  const { entries } = timeline;
  const keys = entries.map((step: Json) => [step.kind, step.id, step.what].join(' '));
  expect(new Set(keys).size).toBe(keys.length);
  const places = entries.map((step: Json) => `${step.at} ${KINDS.indexOf(step.kind)}`);
  expect(places).toEqual(places.toSorted());
  const named = new Set(entries.map((step: Json) => step.resource_id));
  expect([...named].toSorted()).toEqual(resources.toSorted());
}

/** Everything that was announced stands before the deliveries of it, and these before their attempts. */
function expectCauses(timeline: Json, hooks: number): void {
  const { entries } = timeline;
  const events = entries.filter((step: Json) => step.kind === 'event');
  for (const event of events) {
    const deliveries = entries.filter(
      (step: Json) =>
        step.kind === 'delivery' &&
        step.resource_id === event.resource_id &&
        step.what.startsWith(`${event.what} → `),
    );
    // Disputes go to endpoints only (decision 180).
    const expected = event.what.startsWith('dispute.') ? 1 : hooks;
    expect([event.what, deliveries.length]).toEqual([event.what, expected]);
    for (const delivery of deliveries) {
      const attempts = entries.filter(
        (step: Json) =>
          step.kind === 'attempt' && step.details.delivery_id === delivery.details.delivery_id,
      );
      expect(attempts.map(({ what }: Json) => what)).toEqual(['POST 200']);
      const order = [event, delivery, ...attempts].map((step) => entries.indexOf(step));
      expect([event.what, order]).toEqual([event.what, order.toSorted((a, b) => a - b)]);
    }
  }
}

/** The middle of several calls, in milliseconds. */
async function medianMs(kind: 'charges' | 'payouts', id: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < CALLS; round += 1) {
    const start = performance.now();
    await timelineOf(kind, id);
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b)[(CALLS - 1) / 2] ?? Number.POSITIVE_INFINITY;
}

async function waitForCharge(merchant: Merchant, id: string, status: string): Promise<void> {
  await eventually(async () => {
    expect((await readCharge(merchant, id)).status).toBe(status);
  }, PATIENCE_MS);
}

test('the timeline of a charge that was paid, refunded in part and lost in a dispute has every step once, in order', async () => {
  const merchant = await aSubscribedMerchant();
  const hook = aHook();
  await fund(merchant, CHARGE_CENTS);
  const fields = { amount: CHARGE_CENTS, webhook_url: hook.url };
  const { id } = await createChargeStubbornly(merchant, fields);
  await simulator.pay(id);
  const paid = await waitUntilPaid(merchant, id, PATIENCE_MS);
  const asked = await requestRefund(id, REFUND_CENTS);
  expect(asked.status).toBeLessThan(300);
  const [refund] = await endedRefundsOf(id, PATIENCE_MS);
  expect(refund.status).toBe('completed');
  const control = `${stack().simulator_url}/control/disputes`;
  const opened = await call(control, {
    method: 'POST',
    body: { end_to_end_id: paid.pix.end_to_end_id, reason: 'scam' },
  });
  await waitForCharge(merchant, id, 'infraction');
  await call(`${control}/${opened.body.id}/decide`, {
    method: 'POST',
    body: { outcome: 'lost', returned_amount: LOST_CENTS },
  });
  await waitForCharge(merchant, id, 'charged_back');
  const disputes = await admin('GET', `/admin/disputes?charge_id=${id}`);
  const [dispute] = disputes.body.data;

  const timeline = await eventually(async () => {
    const now = await timelineOf('charges', id);
    expect(stepsOf(now, 'event')).toContain('event dispute.pix.lost');
    expectCauses(now, 2);
    const journals = stepsOf(now, 'journal').filter((step) => !step.includes('tariff'));
    expect(journals.toSorted()).toEqual([
      'journal block_disputed',
      'journal credit_received_pix',
      'journal return_disputed',
      'journal settle_hold',
      'journal take_hold',
    ]);
    return now;
  }, PATIENCE_MS);

  expectSound(timeline, [id, refund.id, dispute.id]);
  const steps = stepsOf(timeline, 'state', 'event');
  const last = steps.indexOf('event dispute.pix.opened');
  expect(steps.slice(0, last + 1)).toEqual([
    'state new → processing',
    'state processing → pending',
    'event charge.pix.created',
    'event charge.pix.emitted',
    'state pending: pix_accepted',
    'state pending → paid',
    'event charge.pix.paid',
    'state refund requested',
    'state refund completed',
    'state paid: refund_completed',
    'state dispute opened',
    'state paid → infraction',
    'event charge.pix.infraction',
    'event dispute.pix.opened',
  ]);
  // The return and the decision are seen in either order; each is told where it was.
  const pairs = [
    ['state infraction → charged_back', 'event charge.pix.charged_back'],
    ['state dispute lost', 'event dispute.pix.lost'],
  ];
  for (const pair of pairs) {
    expect(steps.slice(last + 1).filter((step) => pair.includes(step))).toEqual(pair);
  }
  expectBefore(timeline, 'pending: pix_accepted', 'credit_received_pix', 'pending → paid');
  expectBefore(timeline, 'refund requested', 'take_hold', 'refund completed', 'settle_hold');
  expectBefore(timeline, 'dispute opened', 'block_disputed', 'return_disputed');
  const amounts = Object.entries(amountsOf(timeline));
  for (const amount of [
    ['credit_received_pix', CHARGE_CENTS],
    ['take_hold', REFUND_CENTS],
    ['settle_hold', REFUND_CENTS],
    ['return_disputed', LOST_CENTS],
  ]) {
    expect(amounts).toContainEqual(amount);
  }
  expect(JSON.stringify(timeline)).not.toContain(merchant.funding[0]);
  const sent = [...(await received(hook.path)), ...(await received(merchant.hookPath))];
  const ofThis = sent.filter((one) => one.body.includes(id));
  expect(stepsOf(timeline, 'attempt')).toHaveLength(ofThis.length);
  expectQuick('charge', await medianMs('charges', id), timeline);
});

test('the timeline of a payout that completed and came back has every step once, in order', async () => {
  const merchant = await aPayingMerchant(5_000);
  const endpoint = aHook();
  const names = ['payment.pix.created', 'payment.pix.processing'];
  await register(merchant, { url: endpoint.url, events: [...names, 'payment.pix.failed'] });
  await createPayout(merchant);
  const created = await createPayout(merchant, { webhook_url: aHook().url });
  const { id } = created.body;
  const completed = await waitForPayout(merchant, id, 'completed');
  await returnAtAcquirer(completed.end_to_end_id, { natureza: 'ORIGINAL' });
  const timeline = await eventually(async () => {
    const now = await timelineOf('payouts', id);
    expect(stepsOf(now, 'journal')).toEqual([
      'journal take_hold',
      'journal settle_hold',
      'journal credit_payout_return',
    ]);
    expect(stepsOf(now, 'attempt')).toHaveLength(2 * names.length);
    return now;
  }, PATIENCE_MS);

  expectSound(timeline, [id]);
  expect(stepsOf(timeline, 'journal', 'state', 'event')).toEqual([
    'state new → intent',
    'journal take_hold',
    'state intent → processing',
    'event payment.pix.created',
    'event payment.pix.processing',
    'journal settle_hold',
    'state processing → completed',
    'event payment.pix.completed',
    'state returned',
    'journal credit_payout_return',
  ]);
  for (const name of names) {
    expect(stepsOf(timeline, 'delivery').filter((step) => step.includes(name))).toHaveLength(2);
  }
  expect(amountsOf(timeline)).toEqual({
    take_hold: COST_CENTS,
    settle_hold: COST_CENTS,
    credit_payout_return: AMOUNT_CENTS,
  });
  expectQuick('payout', await medianMs('payouts', id), timeline);
});

test('of what there is not, there is no timeline', async () => {
  const none = '01920000-0000-7000-8000-000000000000';
  const answers = await Promise.all(
    ['charges', 'payouts'].map((kind) => admin('GET', `/admin/${kind}/${none}/timeline`)),
  );
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
    [404, 'CHARGE_NOT_FOUND'],
    [404, 'PAYOUT_NOT_FOUND'],
  ]);
});

/** These steps follow each other, whatever else stands between them. */
function expectBefore({ entries }: Json, ...whats: string[]): void {
  const places = whats.map((what) => entries.findIndex((step: Json) => step.what === what));
  expect([whats, places.includes(-1)]).toEqual([whats, false]);
  expect([whats, places]).toEqual([whats, places.toSorted((a, b) => a - b)]);
}

function amountsOf({ entries }: Json): Record<string, number> {
  const journals = entries.filter((step: Json) => step.kind === 'journal');
  return Object.fromEntries(journals.map((step: Json) => [step.what, step.details.amount]));
}

function expectQuick(name: string, ms: number, { entries }: Json): void {
  console.log(`timeline of a ${name}: ${entries.length} steps, median ${Math.round(ms)} ms`);
  expect(ms).toBeLessThanOrEqual(ANSWER_MS_MAX);
}
