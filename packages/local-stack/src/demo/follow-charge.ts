import type { DemoClient } from './demo-client.ts';
import { expect, until } from '../http-call.ts';
import { createMerchantHook, noteDeliveries } from './merchant-hook.ts';
import { formatCents, type Timeline } from './timeline.ts';

const AMOUNT_CENTS = 1_990;
const EVENTS = ['charge.pix.created', 'charge.pix.emitted', 'charge.pix.paid'];

/** Fictitious, with right check digits. */
const CUSTOMER = { name: 'Maria Exemplo', email: 'maria@example.com', document: '52998224725' };

/** Creates a charge, pays it at the acquirer, and checks what the merchant gets to see of it. */
export async function followCharge(client: DemoClient, timeline: Timeline): Promise<void> {
  const hook = createMerchantHook();
  const before = await client.getAvailable();
  timeline.note('merchant', `GET /v1/balance: available ${formatCents(before)}`);
  const charge = await client.createCharge({
    amount: AMOUNT_CENTS,
    method: 'pix',
    description: 'Demo charge',
    reference: 'demo',
    customer: CUSTOMER,
    ...hook.fields,
  });
  timeline.note('merchant', `POST /v1/charges: ${charge.status}, id ${charge.id}`);
  const read = await client.getCharge(charge.id);
  expect(read.status === 'pending', `the new charge is ${read.status}, not pending`);
  timeline.note('merchant', `GET /v1/charges/{id}: ${read.status}`);
  await client.pay(charge.id);
  timeline.note('payer', `pays ${formatCents(charge.amount)} at the acquirer`);
  await until(
    'the charge becoming paid',
    () => client.getCharge(charge.id),
    (one) => one.status === 'paid',
  );
  timeline.note('merchant', 'GET /v1/charges/{id}: paid');
  const after = await client.getAvailable();
  timeline.note('merchant', `GET /v1/balance: available ${formatCents(after)}`);
  expect(after === before + AMOUNT_CENTS, `the balance went from ${before} to ${after} cents`);
  await noteDeliveries({ client, timeline, hook }, { resourceId: charge.id, events: EVENTS });
}
