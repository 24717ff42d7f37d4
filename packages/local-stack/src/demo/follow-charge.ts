import { randomBytes, randomUUID } from 'node:crypto';
import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';
import { StartupFailure } from '../startup-failure.ts';
import { until } from './demo-client.ts';
import type { DemoClient, ReceivedRequest } from './demo-client.ts';
import { formatCents } from './timeline.ts';
import type { Timeline } from './timeline.ts';

const AMOUNT_CENTS = 1_990;
const SECRET_BYTES = 24;
const EVENTS = ['charge.pix.created', 'charge.pix.emitted', 'charge.pix.paid'];
const HOOK_PATH = '/hook';

/** Fictitious, with right check digits. */
const CUSTOMER = { name: 'Maria Exemplo', email: 'maria@example.com', document: '52998224725' };

interface Delivery {
  event: string;
  request: ReceivedRequest;
}

/** Creates a charge, pays it at the acquirer, and checks what the merchant gets to see of it. */
export async function followCharge(client: DemoClient, timeline: Timeline): Promise<void> {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  const before = await client.getAvailable();
  timeline.note('merchant', `GET /v1/balance: available ${formatCents(before)}`);
  const charge = await client.createCharge(describeCharge(secret), randomUUID());
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
  const deliveries = await collectDeliveries(client, charge.id);
  for (const { event, request } of deliveries) {
    checkSignature(request, secret);
    const text = `${event} delivered, signature right`;
    timeline.note('webhook receiver', text, Date.parse(request.received_at));
  }
}

async function collectDeliveries(client: DemoClient, chargeId: string): Promise<Delivery[]> {
  const found = await until(
    `delivery of ${EVENTS.join(', ')}`,
    async () => findDeliveries(await client.listReceived(HOOK_PATH), chargeId),
    (deliveries) => deliveries.length >= EVENTS.length,
  );
  return found.toSorted(
    (a, b) => Date.parse(a.request.received_at) - Date.parse(b.request.received_at),
  );
}

/** The first delivery of each expected event of this charge. */
export function findDeliveries(requests: readonly ReceivedRequest[], chargeId: string): Delivery[] {
  return EVENTS.flatMap((event) => {
    const request = requests.find(
      (one) => one.headers['x-webhook-event'] === event && chargeIdOf(one) === chargeId,
    );
    return request ? [{ event, request }] : [];
  });
}

function chargeIdOf(request: ReceivedRequest): string | undefined {
  const body = JSON.parse(request.body) as { data?: { id?: string } };
  return body.data?.id;
}

function checkSignature(request: ReceivedRequest, secret: string): void {
  const body = Buffer.from(request.body_base64, 'base64');
  const header = request.headers['x-webhook-signature'];
  const event = request.headers['x-webhook-event'];
  expect(verifyWebhookSignature(secret, body, header), `the signature of ${event} is wrong`);
}

function describeCharge(secret: string): object {
  return {
    amount: AMOUNT_CENTS,
    method: 'pix',
    description: 'Demo charge',
    reference: 'demo',
    customer: CUSTOMER,
    webhook_url: `http://shop.receiver.example.com${HOOK_PATH}`,
    webhook_secret: secret,
  };
}

function expect(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new StartupFailure(otherwise);
}
