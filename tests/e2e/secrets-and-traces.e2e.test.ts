import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { eventually } from '@pixmesh/testkit/eventually';
import { expect, inject, test } from 'vitest';

import {
  admin,
  aMerchant,
  call,
  createCharge,
  type Json,
  received,
  scaled,
  simulator,
  stack,
  v1,
  waitUntilPaid,
} from './mesh.ts';

async function spans(): Promise<Json[]> {
  return (await call(`${inject('otlpUrl')}/spans`)).body;
}

function serviceNames(trace: readonly Json[]): string[] {
  return [...new Set(trace.map((span) => span.service))].toSorted();
}

test('one trace covers every hop from the POST to its webhooks, another from the payment to its own', async () => {
  const merchant = await aMerchant();
  const hook = `/${randomUUID()}`;
  const created = await createCharge(merchant, {
    webhook_url: `http://a.receiver.example.com${hook}`,
  });
  await simulator.pay(created.body.id);
  await waitUntilPaid(merchant, created.body.id);
  await eventually(async () => expect((await received(hook)).length).toBe(3));
  const traceIds = new Set<string>();
  for (const request of await received(hook)) {
    // Merchants get no header of our tracing; the delivery's own span names it.
    const deliveryId = request.headers['x-webhook-delivery'];
    const event = request.headers['x-webhook-event'];
    await eventually(async () => {
      const all = await spans();
      const delivery = all.find((span) => span.attributes['webhook.delivery_id'] === deliveryId);
      const trace = all.filter((span) => span.traceId === delivery?.traceId);
      const isPaid = event === 'charge.pix.paid';
      expect(serviceNames(trace)).toEqual([
        'acquirer-simulator',
        'charges',
        'gateway',
        ...(isPaid ? ['ledger'] : []),
        'webhook-dispatcher',
      ]);
      const kinds = new Set(trace.map((span) => span.kind));
      for (const kind of ['server', 'client', 'producer', 'consumer'])
        expect(kinds).toContain(kind);
      // Unbroken: every span but the root hangs under another span of the same trace.
      const ids = new Set(trace.map((span) => span.spanId));
      const roots = trace.filter((span) => !ids.has(span.parentSpanId));
      expect(roots.map((span) => `${span.service} ${span.name}`)).toHaveLength(1);
      traceIds.add(delivery?.traceId);
    });
  }
  expect(traceIds.size).toBe(2);
});

test('a revoked key is refused on the very next request', async () => {
  const merchant = await aMerchant();
  const trials = scaled(10_000, 500);
  let accepted = 0;
  for (let trial = 0; trial < trials; trial += 1) {
    const key = await admin('POST', `/admin/applications/${merchant.applicationId}/keys`, {
      name: `trial ${trial}`,
      scopes: ['account:read'],
    });
    const holder = { ...merchant, key: key.body.key };
    if (trial % 50 === 0) expect((await v1(holder, 'GET /account')).status).toBe(200);
    expect((await admin('DELETE', `/admin/keys/${key.body.id}`)).status).toBe(204);
    const answer = await v1(holder, 'GET /account');
    if (answer.status !== 401) accepted += 1;
  }
  console.log(`revoked keys accepted: ${accepted} of ${trials}`);
  expect(accepted).toBe(0);
}, 900_000);

test('no key, secret or full document stands in logs, traces or error bodies', async () => {
  const merchant = await aMerchant();
  const secret = `whsec_canary_${randomUUID()}`;
  const document = '39053344705';
  const name = `Canario ${randomUUID()}`;
  const hook = `/${randomUUID()}`;
  const customer = { name, email: `${randomUUID()}@canary.example`, document };
  const body = {
    customer,
    webhook_url: `http://a.receiver.example.com${hook}`,
    webhook_secret: secret,
  };
  const created = await createCharge(merchant, body);
  await simulator.pay(created.body.id);
  await waitUntilPaid(merchant, created.body.id);
  await simulator.setFaults([
    { operation: 'issueCharge', count: 1, fault: 'garbage' },
    { operation: 'getCharge', count: 1, fault: 'garbage' },
  ]);
  const failed = await createCharge(merchant, body);
  expect(failed.status).toBe(500);
  const refused = await createCharge(merchant, { ...body, expires_in: 'x' });
  await simulator.clearFaults();
  await eventually(async () => expect((await received(hook)).length).toBeGreaterThanOrEqual(3));
  const logs = readdirSync(path.join(inject('home'), 'logs'))
    .map((file) => readFileSync(path.join(inject('home'), 'logs', file), 'utf8'))
    .join('\n');
  const callbackSecret = JSON.parse(
    readFileSync(path.join(inject('home'), 'secrets.json'), 'utf8'),
  );
  const traces = JSON.stringify(await spans());
  const errors = JSON.stringify([failed.body, refused.body]);
  const { admin_token, api_key } = stack();
  const canaries = [merchant.key, api_key, secret, document, name, customer.email, admin_token];
  for (const canary of [...canaries, callbackSecret.callbackSecret]) {
    expect(canary.length).toBeGreaterThan(8);
    for (const [place, text] of Object.entries({ logs, traces, errors })) {
      expect([place, text.includes(canary)]).toEqual([place, false]);
    }
  }
});
