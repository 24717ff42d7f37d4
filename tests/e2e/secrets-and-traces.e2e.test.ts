import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { expect, inject, test } from 'vitest';

import {
  admin,
  aMerchant,
  ARRIVAL_MS_MAX,
  call,
  createCharge,
  type Json,
  type Merchant,
  received,
  secretsOfHome,
  simulator,
  stack,
  v1,
  waitUntilPaid,
} from './mesh.ts';
import { hiddenTexts, readProcessText } from './process-texts.ts';
import { aPayingMerchant, COST_CENTS, createPayout, waitForPayout } from './payout-calls.ts';

const CREATION_SERVICES = ['acquirer-simulator', 'charges', 'gateway', 'webhook-dispatcher'];
const PAYMENT_SERVICES = ['acquirer-simulator', 'charges', 'ledger', 'webhook-dispatcher'];
const PAYMENTS_MAX = 5;

type WholeTrace = { id: string; services: string[] };

async function spans(): Promise<Json[]> {
  return (await call(`${inject('otlpUrl')}/spans`)).body;
}

function serviceNames(trace: readonly Json[]): string[] {
  return [...new Set(trace.map((span) => span.service))].toSorted();
}

test('one trace covers every hop from the POST to its webhooks, another from the payment to its own', async () => {
  const merchant = await aMerchant();
  let paidServices: string[] = [];
  // The list of received Pix may find a payment before its callback arrives: then another payment is made.
  for (let trial = 0; trial < PAYMENTS_MAX && !paidServices.includes('gateway'); trial += 1) {
    paidServices = await servicesOfPaidTrace(merchant);
  }
  expect(paidServices).toContain('gateway');
});

/** The services that one payment passes, once its trace and that of its charge's creation are whole. */
async function servicesOfPaidTrace(merchant: Merchant): Promise<string[]> {
  const hook = `/${randomUUID()}`;
  const created = await createCharge(merchant, {
    webhook_url: `http://a.receiver.example.com${hook}`,
  });
  await simulator.pay(created.body.id);
  await waitUntilPaid(merchant, created.body.id);
  await eventually(async () => expect((await received(hook)).length).toBe(3), ARRIVAL_MS_MAX);
  const traces: WholeTrace[] = [];
  for (const request of await received(hook)) {
    const isPaid = request.headers['x-webhook-event'] === 'charge.pix.paid';
    traces.push(await wholeTraceOf(request, isPaid ? PAYMENT_SERVICES : CREATION_SERVICES));
  }
  expect(new Set(traces.map(({ id }) => id)).size).toBe(2);
  return traces.find(({ services }) => services.includes('ledger'))?.services ?? [];
}

test('one trace covers a payout from the POST over its hold and its order to its webhooks', async () => {
  const merchant = await aPayingMerchant(COST_CENTS);
  const hook = `/${randomUUID()}`;
  const webhook_url = `http://a.receiver.example.com${hook}`;
  const created = await createPayout(merchant, { webhook_url });
  await waitForPayout(merchant, created.body.id, 'completed');
  await eventually(async () => expect((await received(hook)).length).toBe(2), ARRIVAL_MS_MAX);
  const services = ['acquirer-simulator', 'gateway', 'ledger', 'payouts', 'webhook-dispatcher'];
  const traceIds = new Set<string>();
  for (const request of await received(hook)) {
    traceIds.add((await wholeTraceOf(request, services)).id);
  }
  expect(traceIds.size).toBe(1);
});

/** The trace behind a delivery: at least these services, every kind of hop, and no break in it. */
async function wholeTraceOf(request: Json, services: readonly string[]): Promise<WholeTrace> {
  // Merchants get no header of our tracing; the delivery's own span names it.
  const deliveryId = request.headers['x-webhook-delivery'];
  return await eventually(async () => {
    const all = await spans();
    const delivery = all.find((span) => span.attributes['webhook.delivery_id'] === deliveryId);
    const trace = all.filter((span) => span.traceId === delivery?.traceId);
    // Others may listen to the same topics.
    expect(serviceNames(trace)).toEqual(expect.arrayContaining([...services]));
    const kinds = new Set(trace.map((span) => span.kind));
    for (const kind of ['server', 'client', 'producer', 'consumer']) expect(kinds).toContain(kind);
    // Unbroken: every span but the root hangs under another span of the same trace.
    const ids = new Set(trace.map((span) => span.spanId));
    const roots = trace.filter((span) => !ids.has(span.parentSpanId));
    expect(roots.map((span) => `${span.service} ${span.name}`)).toHaveLength(1);
    return { id: String(delivery?.traceId), services: serviceNames(trace) };
  }, ARRIVAL_MS_MAX);
}

test('a revoked key is refused on the very next request', async () => {
  const merchant = await aMerchant();
  const trials = scaled(100, 10_000);
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

test('no key, secret or full document of a charge stands in logs, traces or error bodies', async () => {
  const merchant = await aMerchant();
  const canaries = {
    secret: `whsec_canary_${randomUUID()}`,
    document: '39053344705',
    name: `Canario ${randomUUID()}`,
    email: `${randomUUID()}@canary.example`,
  };
  const hook = `/${randomUUID()}`;
  const body = {
    customer: { name: canaries.name, email: canaries.email, document: canaries.document },
    webhook_url: `http://a.receiver.example.com${hook}`,
    webhook_secret: canaries.secret,
  };
  const created = await createCharge(merchant, body);
  await simulator.pay(created.body.id);
  await waitUntilPaid(merchant, created.body.id);
  await simulator.addFaults(merchant, [
    { operation: 'issueCharge', count: 1, fault: 'garbage', only: { debtor: canaries.name } },
    { operation: 'getCharge', fault: 'garbage', only: { debtor: canaries.name } },
  ]);
  const failed = await createCharge(merchant, body);
  expect(failed.status).toBe(500);
  const refused = await createCharge(merchant, { ...body, expires_in: 'x' });
  await eventually(
    async () => expect((await received(hook)).length).toBeGreaterThanOrEqual(3),
    ARRIVAL_MS_MAX,
  );
  const own = [merchant.key, ...Object.values(canaries)];
  await expectNowhere(own, [failed.body, refused.body]);
});

test('no Pix key, secret, name or full document of a payout stands in logs, traces or error bodies', async () => {
  const merchant = await aPayingMerchant(2 * COST_CENTS);
  const hook = `/${randomUUID()}`;
  const recipient = {
    pix_key: '+5511987650321',
    recipient_document: '111.444.777-35',
    recipient_name: `Canario ${randomUUID()}`,
    webhook_secret: `whsec_canary_${randomUUID()}`,
  };
  const webhook_url = `http://a.receiver.example.com${hook}`;
  const body = { pix_key_type: 'phone', webhook_url, ...recipient };
  const paid = await createPayout(merchant, body);
  await waitForPayout(merchant, paid.body.id, 'completed');
  // Answers that nobody can read, and a refusal whose words name the key.
  const only = { pix_key: recipient.pix_key };
  const message = `chave ${recipient.pix_key}`;
  await simulator.addFaults(merchant, [
    { operation: 'sendPayout', count: 1, fault: 'refusal', message, only },
    { operation: 'getPayout', count: 1, fault: 'garbage', only },
  ]);
  const second = await createPayout(merchant, body);
  await waitForPayout(merchant, second.body.id, 'failed');
  const errors = [
    await createPayout(merchant, { ...body, amount: 'x' }),
    await createPayout(merchant, { ...body, pix_key_type: 'cpf' }),
    await createPayout(merchant, { ...body, amount: 1_000_000 }),
  ];
  expect(errors.map((answer) => answer.status)).toEqual([400, 400, 400]);
  await eventually(
    async () => expect((await received(hook)).length).toBeGreaterThanOrEqual(4),
    ARRIVAL_MS_MAX,
  );
  const canaries = [merchant.key, ...Object.values(recipient), '11144477735', '5511987650321'];
  await expectNowhere(
    canaries,
    errors.map((answer) => answer.body),
  );
});

test('no secret stands in the arguments or in the environment of a process', () => {
  const { pids, admin_token, internal_urls } = stack();
  const hidden = hiddenTexts();
  expect(hidden.size).toBeGreaterThan(20);
  expect([...hidden.values()]).toContain(admin_token);
  const shown = Object.entries(pids).flatMap(([name, pid]) => {
    const text = readProcessText(pid);
    // Redis and Postgres write over their environment.
    const isSeen = name in internal_urls ? text.includes('DATABASE_URL_FILE=') : text !== '';
    expect([name, isSeen]).toEqual([name, true]);
    return [...hidden]
      .filter(([, secret]) => secret.length > 8 && text.includes(secret))
      .map(([file]) => `${name}: ${path.basename(file)}`);
  });
  expect(shown).toEqual([]);
});

/** Neither these texts nor the installation's own secrets stand where they must not (I18). */
async function expectNowhere(canaries: readonly string[], answers: readonly Json[]): Promise<void> {
  const logs = readdirSync(path.join(inject('home'), 'logs'))
    .map((file) => readFileSync(path.join(inject('home'), 'logs', file), 'utf8'))
    .join('\n');
  const traces = JSON.stringify(await spans());
  const errors = JSON.stringify(answers);
  const { admin_token, api_key } = stack();
  for (const canary of [...canaries, admin_token, api_key, secretsOfHome().callbackSecret]) {
    expect(canary.length).toBeGreaterThan(8);
    for (const [place, text] of Object.entries({ logs, traces, errors })) {
      expect([place, text.includes(canary)]).toEqual([place, false]);
    }
  }
}
