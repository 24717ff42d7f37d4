import { randomBytes, randomUUID } from 'node:crypto';

import { Scope } from '@pixmesh/contracts/http/scopes';
import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';

import { composeOrigin, composeSecret } from './compose-project.ts';
import { call, until } from './smoke-client.ts';

/**
 * `node deploy/containers/smoke.ts`, beside a running `docker compose up`: one charge of a new merchant, seen
 * from outside, from the key to three signed webhooks. Ends with 1 at the first thing that is not as promised.
 */
const AMOUNT_CENTS = 1_990;
const SECRET_BYTES = 24;
const MOMENT_WIDTH = 6;
const EVENTS = ['charge.pix.created', 'charge.pix.emitted', 'charge.pix.paid'];

type Identified = { id: string };
type Charge = { id: string; status: string };
type Received = { headers: Record<string, string>; body: string; body_base64: string };

const startedAtMs = performance.now();
try {
  await followOneCharge();
} catch (error) {
  note(`FAILED: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function followOneCharge(): Promise<void> {
  const gateway = await composeOrigin('gateway', 8080);
  const simulator = await composeOrigin('acquirer-simulator', 8080);
  const receiver = await composeOrigin('acquirer-simulator', 8090);
  const apiKey = await createMerchant();
  note('account, application and key created');

  const before = await readAvailable(gateway, apiKey);
  // The path is new with every run, so that deliveries of other charges are never counted.
  const hook = { path: `/hook-${randomUUID()}`, secret: randomText() };
  const charge = await createCharge(gateway, apiKey, hook);
  expect(charge.status === 'pending', `the new charge is ${charge.status}, not pending`);
  note(`POST /v1/charges: ${charge.status}, ${charge.id}`);

  await call('POST', `${simulator}/control/charges/${charge.id}/pay`, { body: {} });
  note('paid at the acquirer');
  await until(
    'paid',
    () => readCharge(gateway, apiKey, charge.id),
    (one) => one.status === 'paid',
  );
  note('GET /v1/charges/{id}: paid');
  const gained = (await readAvailable(gateway, apiKey)) - before;
  expect(gained === AMOUNT_CENTS, `the balance grew by ${gained} cents, not ${AMOUNT_CENTS}`);
  note(`GET /v1/balance: ${gained} cents more are available`);

  const received = await until(
    `${EVENTS.length} deliveries`,
    () => listReceived(receiver, hook.path),
    (requests) => requests.length >= EVENTS.length,
  );
  checkDeliveries(received, charge.id, hook.secret);
  note(`${received.length} webhooks delivered, each with the right signature`);
}

async function createMerchant(): Promise<string> {
  const admin = await composeOrigin('gateway', 8081);
  const token = await composeSecret('gateway', 'ADMIN_BOOTSTRAP_TOKEN');
  const headers = { authorization: `Bearer ${token}` };
  const create = <T>(path: string, body: object) =>
    call<T>('POST', `${admin}/admin/${path}`, { headers, body });
  const account = await create<Identified>('accounts', {
    name: 'Loja Exemplo',
    legal_name: 'Loja Exemplo Ltda',
    // Right check digits, and nobody's.
    document: '11444777000161',
    onboarding_status: 'approved',
  });
  const application = await create<Identified>(`accounts/${account.id}/applications`, {
    name: 'smoke',
  });
  const { key } = await create<{ key: string }>(`applications/${application.id}/keys`, {
    name: 'smoke',
    scopes: Scope.options,
  });
  return key;
}

async function createCharge(
  gateway: string,
  apiKey: string,
  hook: { path: string; secret: string },
): Promise<Charge> {
  return await call<Charge>('POST', `${gateway}/v1/charges`, {
    headers: { 'x-api-key': apiKey, 'idempotency-key': randomUUID() },
    body: {
      amount: AMOUNT_CENTS,
      method: 'pix',
      customer: { name: 'Maria Exemplo', email: 'maria@example.com', document: '52998224725' },
      webhook_url: `http://shop.receiver.example.com${hook.path}`,
      webhook_secret: hook.secret,
    },
  });
}

async function readCharge(gateway: string, apiKey: string, id: string): Promise<Charge> {
  return await call<Charge>('GET', `${gateway}/v1/charges/${id}`, {
    headers: { 'x-api-key': apiKey },
  });
}

async function readAvailable(gateway: string, apiKey: string): Promise<number> {
  const headers = { 'x-api-key': apiKey };
  const balance = await call<{ available: number }>('GET', `${gateway}/v1/balance`, { headers });
  return balance.available;
}

async function listReceived(receiver: string, path: string): Promise<Received[]> {
  const url = `${receiver}/requests?path=${encodeURIComponent(path)}`;
  const answer = await call<{ data: Received[] } | Received[]>('GET', url, {});
  return Array.isArray(answer) ? answer : answer.data;
}

function checkDeliveries(received: readonly Received[], chargeId: string, secret: string): void {
  const delivered = received.map((one) => one.headers['x-webhook-event']).join(', ');
  const isComplete = EVENTS.every((event) => delivered.includes(event));
  expect(isComplete && received.length === EVENTS.length, `delivered were ${delivered}`);
  for (const { headers, body, body_base64 } of received) {
    const event = headers['x-webhook-event'];
    const { data } = JSON.parse(body) as { data?: { id?: string } };
    expect(data?.id === chargeId, `${event} speaks of ${data?.id}`);
    const bytes = Buffer.from(body_base64, 'base64');
    const isSigned = verifyWebhookSignature(secret, bytes, headers['x-webhook-signature']);
    expect(isSigned, `the signature of ${event} is wrong`);
  }
}

function randomText(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function note(text: string): void {
  const moment = String(Math.round(performance.now() - startedAtMs)).padStart(MOMENT_WIDTH);
  process.stdout.write(`${moment} ms  ${text}\n`);
}

function expect(condition: boolean, otherwise: string): void {
  if (!condition) throw new Error(otherwise);
}
