// A merchant's program: nothing of this repository but the client that was generated from /openapi.json.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import createClient from 'openapi-fetch';

import type { components, paths } from './.pixmesh-generated/api.d.ts';

type Schemas = components['schemas'];

const { BASE_URL = '', API_KEY = '', SIMULATOR_URL, RECEIVER_URL = '' } = process.env;
const { WEBHOOK_PATH = '', WEBHOOK_SECRET = '', POLL_SECONDS = '30' } = process.env;

const client = createClient<paths>({ baseUrl: BASE_URL, headers: { 'x-api-key': API_KEY } });

const customer = { name: 'Ana Souza', email: 'ana@example.com', document: '529.982.247-25' };

/** Exhaustive over what is known today; a status of tomorrow is shown as it is. */
function describe(status: Schemas['Charge']['status']): string {
  const known: Record<Schemas['ChargeStatus'], string> = {
    processing: 'waiting',
    pending: 'waiting',
    paid: 'paid',
    expired: 'not paid',
    canceled: 'not paid',
    failed: 'not paid',
    refunded: 'returned',
    charged_back: 'returned',
    infraction: 'disputed',
  };
  return known[status as Schemas['ChargeStatus']] ?? `unknown (${status})`;
}

function must<Value>(answer: { data?: Value; error?: Schemas['Error'] | undefined }): Value {
  if (answer.data === undefined) {
    throw new Error(`${answer.error?.code} ${answer.error?.details.join(' ')}`);
  }
  return answer.data;
}

async function readCharge(id: string): Promise<Schemas['Charge']> {
  return must(await client.GET('/v1/charges/{id}', { params: { path: { id } } }));
}

async function quickStart(): Promise<void> {
  const order = randomUUID();
  const charge = must(
    await client.POST('/v1/charges', {
      params: { header: { 'Idempotency-Key': `charge-${order}` } },
      body: {
        amount: 1000,
        reference: order,
        customer,
        webhook_url: `http://shop.receiver.example.com${WEBHOOK_PATH}`,
        webhook_secret: WEBHOOK_SECRET,
      },
    }),
  );
  console.log(`charge is ${charge.status}: ${charge.pix.br_code?.slice(0, 6)}`);
  if (SIMULATOR_URL) {
    await fetch(`${SIMULATOR_URL}/control/charges/${charge.id}/pay`, { method: 'POST' });
  }
  let outcome = charge;
  while (describe(outcome.status) === 'waiting') {
    await sleep(Number(POLL_SECONDS) * 1000);
    outcome = await readCharge(charge.id);
  }
  console.log(`charge is ${outcome.status}`);

  const query = { limit: 1, status: 'paid' } as const;
  const page = must(await client.GET('/v1/charges', { params: { query } }));
  console.log(`newest paid is it: ${page.data[0]?.id === charge.id}, more: ${page.has_more}`);

  const payout = must(
    await client.POST('/v1/payouts', {
      params: { header: { 'Idempotency-Key': `payout-${order}` } },
      body: { amount: 500, pix_key_type: 'email', pix_key: 'joao@example.com' },
    }),
  );
  console.log(`payout is ${payout.status}`);

  const refused = await client.POST('/v1/charges', {
    params: { header: { 'Idempotency-Key': `small-${order}` } },
    body: { amount: 1, customer },
  });
  console.log(`refused: ${refused.response.status} ${refused.error?.code}`);
  await receiveUntil('charge.pix.paid');
}

type Delivery = { headers: Record<string, string>; body_base64: string };

/** The development receiver keeps what it gets; a shop of its own would be called instead. */
async function readDeliveries(): Promise<Delivery[]> {
  const answer = await fetch(`${RECEIVER_URL}/requests?path=${encodeURIComponent(WEBHOOK_PATH)}`);
  return ((await answer.json()) as { data: Delivery[] }).data;
}

async function receiveUntil(name: string): Promise<void> {
  for (;;) {
    const lines = (await readDeliveries()).map(receive).sort();
    if (lines.some((line) => line.startsWith(name))) {
      for (const line of lines) console.log(line);
      return;
    }
    await sleep(Number(POLL_SECONDS) * 1000);
  }
}

/** Verifies the raw bytes before it parses them, then takes an event by what it is about. */
function receive({ headers, body_base64 }: Delivery): string {
  const rawBody = Buffer.from(body_base64, 'base64');
  const digest = createHmac('sha256', WEBHOOK_SECRET).update(rawBody).digest('hex');
  const expected = Buffer.from(`sha256=${digest}`);
  const given = Buffer.from(headers['x-webhook-signature'] ?? '');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'forged';
  const event = JSON.parse(rawBody.toString('utf8')) as
    | Schemas['ChargeEvent']
    | Schemas['PaymentEvent']
    | Schemas['DisputeEvent'];
  switch (event.resource) {
    case 'charge':
      return `${event.event} of a charge: ${describe(event.data.status)}`;
    case 'payment':
      return `${event.event} of a payout: ${event.data.status}`;
    case 'dispute':
      return `${event.event} of a dispute: ${event.data.reason}`;
    default:
      return `${(event as Schemas['Event']).event}: taken and left alone`;
  }
}

/** Against an installation of tomorrow: nothing here is known today. */
async function tomorrow(): Promise<void> {
  const charge = await readCharge(randomUUID());
  // With a closed list this comparison would not compile.
  const method = charge.method === 'boleto' ? 'boleto' : 'Pix';
  console.log(`charge is ${describe(charge.status)}, by ${method}`);
  const payouts = must(await client.GET('/v1/payouts'));
  console.log(`payouts are ${payouts.data.map(({ status }) => status).join(' ')}`);
  const account = must(await client.GET('/v1/account'));
  console.log(`account is ${account.status}, ${account.onboarding_status}`);
  const { data: events } = must(await client.GET('/v1/webhooks/events'));
  console.log(`catalog has ${events.map(({ event }) => event).join(' ')}`);
  const refused = await client.GET('/v1/balance');
  console.log(`refused: ${refused.response.status} ${refused.error?.code}`);
  for (const delivery of await readDeliveries()) console.log(receive(delivery));
}

await (process.argv[2] === 'tomorrow' ? tomorrow() : quickStart());
