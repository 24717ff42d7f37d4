import type { DemoClient, DemoPayout } from './demo-client.ts';
import { expect, until } from '../http-call.ts';
import { createMerchantHook, noteDeliveries } from './merchant-hook.ts';
import { formatCents, type Timeline } from './timeline.ts';

const AMOUNT_CENTS = 1_200;
/** What the catalogue delivers; `payment.pix.completed` it does not (specification, events). */
const EVENTS = ['payment.pix.created', 'payment.pix.processing'];

const RECIPIENT = {
  pix_key_type: 'email',
  pix_key: 'joao@example.com',
  recipient_name: 'Joao Exemplo',
};

/** Pays out from the balance, and checks that amount and fee leave it at once and for good. */
export async function followPayout(client: DemoClient, timeline: Timeline): Promise<void> {
  const hook = createMerchantHook();
  const before = await client.getAvailable();
  const payout = await client.createPayout({
    amount: AMOUNT_CENTS,
    method: 'pix',
    description: 'Demo payout',
    reference: 'demo',
    ...RECIPIENT,
    ...hook.fields,
  });
  const cost = `${formatCents(payout.amount)} + fee ${formatCents(payout.fee)}`;
  timeline.note('merchant', `POST /v1/payouts: ${payout.status}, ${cost}, id ${payout.id}`);
  expect(payout.status === 'processing', `the new payout is ${payout.status}, not processing`);
  const after = await client.getAvailable();
  timeline.note('merchant', `GET /v1/balance: available ${formatCents(after)}`);
  const spent = before - after;
  expect(spent === AMOUNT_CENTS + payout.fee, `the balance fell by ${spent} cents`);
  const completed = await untilCompleted(client, payout.id);
  timeline.note('merchant', `GET /v1/payouts/{id}: completed, ${completed.end_to_end_id}`);
  const kept = await client.getAvailable();
  timeline.note('merchant', `GET /v1/balance: available ${formatCents(kept)}`);
  expect(kept === after, `the balance went on to ${kept} cents`);
  await noteDeliveries({ client, timeline, hook }, { resourceId: payout.id, events: EVENTS });
}

async function untilCompleted(client: DemoClient, id: string): Promise<DemoPayout> {
  const ended = await until(
    'the payout becoming completed',
    () => client.getPayout(id),
    (one) => one.status !== 'processing',
  );
  expect(ended.status === 'completed', `the payout is ${ended.status}: ${ended.failure_reason}`);
  expect(ended.end_to_end_id !== null, 'a completed payout has no end_to_end_id');
  return ended;
}
