import { randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { expect } from 'vitest';

import { acquirer } from '../e2e/acquirer.ts';
import { disputesOf } from '../e2e/acquirer-channels.ts';
import { aHook, type Hook } from '../e2e/hooks.ts';
import {
  admin,
  adminBody,
  createCharge,
  createChargeStubbornly,
  type Json,
  readCharge,
  received,
  simulator,
  waitUntilPaid,
} from '../e2e/mesh.ts';
import { aPayoutBody, createPayout, fund, waitForPayout } from '../e2e/payout-calls.ts';
import { requestRefund } from '../e2e/refund-calls.ts';
import { deliveredTo } from './settle-lives.ts';
import { aSubscribedMerchant, type SubscribedMerchant } from './subscribed-merchant.ts';

const CHARGE_CENTS = 2_000;
const FUNDS_CENTS = 10_000;

/** What the lives below announce, and of it what is delivered to nobody. */
export const ANNOUNCED = [
  'charge.pix.canceled',
  'charge.pix.charged_back',
  'charge.pix.created',
  'charge.pix.emitted',
  'charge.pix.failed',
  'charge.pix.infraction',
  'charge.pix.paid',
  'charge.pix.refunded',
  'dispute.pix.lost',
  'dispute.pix.message',
  'dispute.pix.opened',
  'dispute.pix.won',
  'payment.pix.canceled',
  'payment.pix.completed',
  'payment.pix.created',
  'payment.pix.failed',
  'payment.pix.processing',
];
const UNDELIVERED = new Set(['payment.pix.completed']);

export type EventLives = {
  /** Charges, disputes and payouts that come to an event of every type. */
  goOn(): Promise<void>;
  /** Each of them has been delivered, to the endpoint and to the URL of its resource. */
  expectDelivered(timeoutMs: number): Promise<void>;
};

export async function prepareEventLives(timeoutMs: number): Promise<EventLives> {
  const merchant = await aSubscribedMerchant({ auto_payout_enabled: true });
  const hook = aHook();
  await fund(merchant, FUNDS_CENTS);
  const [won, lost, refunded] = [
    await fund(merchant, CHARGE_CENTS),
    await fund(merchant, CHARGE_CENTS),
    await fund(merchant, CHARGE_CENTS),
  ];
  return {
    goOn: async () => {
      await Promise.all([
        payOne(merchant, hook, timeoutMs).then(() => cancelAndRefuse(merchant)),
        requestRefund(refunded),
        dispute(merchant, { chargeId: won, outcome: 'won' }, timeoutMs),
        dispute(merchant, { chargeId: lost, outcome: 'lost' }, timeoutMs),
        payOut(merchant, hook, timeoutMs),
      ]);
    },
    expectDelivered: async (deliveredMs) => {
      const delivered = ANNOUNCED.filter((type) => !UNDELIVERED.has(type));
      await eventually(async () => {
        const events = (await deliveredTo(merchant.hookPath)).map(({ event }) => event);
        expect([...new Set(events)].toSorted()).toEqual(delivered);
        const own = new Set((await received(hook.path)).map(eventOf));
        expect([...own]).toEqual(
          expect.arrayContaining(['charge.pix.paid', 'payment.pix.processing']),
        );
      }, deliveredMs);
    },
  };
}

async function payOne(merchant: SubscribedMerchant, hook: Hook, timeoutMs: number): Promise<void> {
  const fields = { amount: CHARGE_CENTS, webhook_url: hook.url };
  const { id } = await createChargeStubbornly(merchant, fields);
  await acquirer.pay(id);
  await waitUntilPaid(merchant, id, timeoutMs);
}

async function cancelAndRefuse(merchant: SubscribedMerchant): Promise<void> {
  const canceled = await createChargeStubbornly(merchant, { amount: CHARGE_CENTS });
  await adminBody('POST', `/admin/charges/${canceled.id}/cancel`);
  const rule = { operation: 'issueCharge', fault: 'refusal', code: 'valor_invalido', count: 1 };
  await simulator.addFaults(merchant, [rule]);
  expect((await createCharge(merchant, { amount: CHARGE_CENTS })).status).toBe(422);
}

async function dispute(
  merchant: SubscribedMerchant,
  { chargeId, outcome }: { chargeId: string; outcome: 'won' | 'lost' },
  timeoutMs: number,
): Promise<void> {
  const { pix } = await readCharge(merchant, chargeId);
  const { body } = await acquirer.openDispute({
    end_to_end_id: pix.end_to_end_id,
    reason: 'scam',
  });
  const opened: Json = await eventually(async () => {
    const [found] = await disputesOf(chargeId);
    expect(found?.status).toBe('open');
    return found;
  }, timeoutMs);
  await adminBody('POST', `/admin/disputes/${opened.id}/messages`, { message: randomUUID() });
  await acquirer.decideDispute(body.id, { outcome });
  await eventually(async () => {
    const status = outcome === 'won' ? 'paid' : 'charged_back';
    expect((await readCharge(merchant, chargeId)).status).toBe(status);
    expect((await disputesOf(chargeId))[0]?.status).toBe(outcome);
  }, timeoutMs);
}

/** One that completes, then one that fails, and one that an operator cancels. */
async function payOut(merchant: SubscribedMerchant, hook: Hook, timeoutMs: number): Promise<void> {
  const completed = await createPayout(merchant, { webhook_url: hook.url });
  await waitForPayout(merchant, completed.body.id, 'completed', timeoutMs);
  const waiting = await admin(
    'POST',
    `/admin/accounts/${merchant.accountId}/payouts`,
    aPayoutBody(merchant),
    { 'idempotency-key': randomUUID() },
  );
  expect([waiting.status, waiting.body.status]).toEqual([201, 'pending']);
  await adminBody('POST', `/admin/payouts/${waiting.body.id}/cancel`);
  const refusal = await simulator.addFaults(merchant, [
    { operation: 'sendPayout', fault: 'refusal' },
  ]);
  const failed = await createPayout(merchant);
  await waitForPayout(merchant, failed.body.id, 'failed', timeoutMs);
  await refusal.remove();
}

function eventOf(request: Json): string {
  return JSON.parse(Buffer.from(request.body_base64, 'base64').toString()).event;
}
