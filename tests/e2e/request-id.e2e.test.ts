import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { eventually } from '@pixmesh/testkit/eventually';
import { expect, inject, test } from 'vitest';

import {
  admin,
  aMerchant,
  ARRIVAL_MS_MAX,
  call,
  createCharge,
  type Json,
  received,
  simulator,
} from './mesh.ts';
import { aPayingMerchant, COST_CENTS, createPayout, waitForPayout } from './payout-calls.ts';

const SERVICES = ['gateway', 'charges', 'payouts', 'ledger', 'webhook-dispatcher'];

/** The lines of all services that carry this request's id. */
function linesOf(requestId: string): Json[] {
  return SERVICES.flatMap((service) => {
    const file = path.join(inject('home'), 'logs', `${service}.log`);
    const lines = readFileSync(file, 'utf8').split('\n');
    const found = lines.filter((line) => line.startsWith('{') && line.includes(requestId));
    return found.map((line) => JSON.parse(line));
  }).filter((line) => line.request_id === requestId);
}

async function spansOf(requestId: string): Promise<Json[]> {
  const spans: Json[] = (await call(`${inject('otlpUrl')}/spans`)).body;
  return spans.filter(({ attributes }) => attributes['pixmesh.request_id'] === requestId);
}

const servicesOf = (found: readonly Json[]) =>
  [...new Set(found.map(({ service }) => service))].toSorted();

/** The whole way of a request stands under its id, in logs and in spans; nothing of it goes to the acquirer. */
async function expectWay(requestId: string, services: readonly string[]): Promise<void> {
  await eventually(async () => {
    const traced = servicesOf(await spansOf(requestId));
    // Others may listen to the same topics.
    expect(servicesOf(linesOf(requestId))).toEqual(expect.arrayContaining([...services]));
    expect(traced).toEqual(expect.arrayContaining([...services]));
    expect(traced).not.toContain('acquirer-simulator');
  }, ARRIVAL_MS_MAX);
}

/** The request behind the delivery that a merchant got: the line of its attempt names it, once that has ended. */
async function requestBehind(delivery: Json): Promise<string> {
  const id = delivery.headers['x-webhook-delivery'];
  const file = path.join(inject('home'), 'logs', 'webhook-dispatcher.log');
  return await eventually(async () => {
    const line = readFileSync(file, 'utf8')
      .split('\n')
      .find((one) => one.startsWith('{') && one.includes(id));
    expect(line).toBeDefined();
    return JSON.parse(line ?? '').request_id;
  }, ARRIVAL_MS_MAX);
}

async function deliveriesOf(hook: string, count: number): Promise<Json[]> {
  await eventually(async () => expect((await received(hook)).length).toBe(count), ARRIVAL_MS_MAX);
  const deliveries = await received(hook);
  for (const { headers } of deliveries) {
    // The names of our tracing stay in the mesh.
    const names = Object.keys(headers).filter((name) => /baggage|trace|request|pixmesh/.test(name));
    expect(names).toEqual([]);
  }
  return deliveries;
}

test('one id shows the way of a charge’s creation, another that of its payment, in every service', async () => {
  const merchant = await aMerchant();
  const hook = `/${randomUUID()}`;
  const created = await createCharge(merchant, {
    webhook_url: `http://a.receiver.example.com${hook}`,
  });
  const creation = created.headers.get('x-request-id')!;
  await simulator.pay(created.body.id);
  const deliveries = await deliveriesOf(hook, 3);
  await expectWay(creation, ['charges', 'gateway', 'webhook-dispatcher']);
  const byEvent = new Map<string, string>();
  for (const one of deliveries) {
    byEvent.set(one.headers['x-webhook-event'], await requestBehind(one));
  }
  expect(byEvent.get('charge.pix.created')).toBe(creation);
  expect(byEvent.get('charge.pix.emitted')).toBe(creation);
  // The acquirer's callback is a request of its own, and what it leads to belongs to it.
  const callback = byEvent.get('charge.pix.paid')!;
  await expectWay(callback, ['charges', 'gateway', 'ledger', 'webhook-dispatcher']);
});

test('one id shows the way of a payout, and the request log names its trace', async () => {
  const merchant = await aPayingMerchant(COST_CENTS);
  const hook = `/${randomUUID()}`;
  const created = await createPayout(merchant, {
    webhook_url: `http://a.receiver.example.com${hook}`,
  });
  const requestId = created.headers.get('x-request-id')!;
  await waitForPayout(merchant, created.body.id, 'completed');
  await deliveriesOf(hook, 2);
  await expectWay(requestId, ['gateway', 'ledger', 'payouts', 'webhook-dispatcher']);
  const log = await admin('GET', `/admin/requests?request_id=${requestId}`);
  const traceIds = new Set((await spansOf(requestId)).map(({ traceId }) => traceId));
  expect([...traceIds]).toEqual([log.body.data[0].trace_id]);
});
