import { randomUUID } from 'node:crypto';

import { aHook, bytesOf, expectSigned } from '../hooks.ts';
import { call, type Json, type Merchant, receivedOn, simulator, stack } from '../mesh.ts';
import { aPayoutBody } from '../payout-calls.ts';

const WEBHOOK_SECRET = 'whsec_rotations_0001';
/** A call that takes longer has failed; services give each ten seconds. */
const ANSWER_MS_MAX = 30_000;

/** Calls at a steady pace, each of them with its answer, and what has to come of them. */
export type RotationLoad = {
  calls(): number;
  /** Calls that were not answered, or not with a success. */
  readonly failures: string[];
  stop(): Promise<void>;
  /** What was begun and has not arrived: paid charges without their signed webhook, payouts that are not completed. */
  findMissing(): Promise<string[]>;
};

/** One call in twenty creates a charge, one pays the oldest that is not, one in fifty pays out; the others read. */
export function startRotationLoad(input: {
  shop: Merchant;
  payer: Merchant;
  requestsPerSecond: number;
}): RotationLoad {
  const { shop, payer, requestsPerSecond } = input;
  const hook = aHook();
  const failures: string[] = [];
  const pending: Promise<void>[] = [];
  const unpaid: string[] = [];
  const paid = new Set<string>();
  const payouts = new Set<string>();
  const begunMs = performance.now();
  const timer = setInterval(beginDue, 1_000 / requestsPerSecond);
  return {
    calls: () => pending.length,
    failures,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(pending);
    },
    findMissing: async () => [...(await findUnannounced()), ...(await findUnfinished())],
  };

  /** By the clock: a timer alone falls behind. */
  function beginDue(): void {
    const due = ((performance.now() - begunMs) / 1_000) * requestsPerSecond;
    while (pending.length < due) pending.push(makeCall(pending.length));
  }

  async function makeCall(n: number): Promise<void> {
    try {
      if (n % 20 === 0) await createCharge();
      else if (n % 20 === 10) await payOldest();
      else if (n % 50 === 5) await payOut();
      else if (n % 2 === 0) await v1(payer, 'GET', '/balance');
      else await v1(shop, 'GET', '/charges?limit=1');
    } catch (error) {
      const { cause } = error as Error;
      const reason = cause instanceof Error ? ` (${cause.message})` : '';
      failures.push(`${new Date().toISOString()} call ${n}: ${String(error)}${reason}`);
    }
  }

  async function createCharge(): Promise<void> {
    const customer = { name: shop.debtor, email: 'ana@example.com', document: '529.982.247-25' };
    const webhook = { webhook_url: hook.url, webhook_secret: WEBHOOK_SECRET };
    const charge = await v1(shop, 'POST', '/charges', { amount: 1_234, customer, ...webhook });
    unpaid.push(charge.id);
  }

  async function payOldest(): Promise<void> {
    const id = unpaid.shift();
    if (id === undefined) return;
    await simulator.pay(id);
    paid.add(id);
  }

  async function payOut(): Promise<void> {
    payouts.add((await v1(payer, 'POST', '/payouts', aPayoutBody(payer))).id);
  }

  async function findUnannounced(): Promise<string[]> {
    for (const request of await receivedOn(hook.path)) {
      const { event, data } = JSON.parse(bytesOf(request).toString());
      if (event !== 'charge.pix.paid' || !paid.has(data.id)) continue;
      expectSigned(request, WEBHOOK_SECRET);
      paid.delete(data.id);
    }
    return [...paid].map((id) => `webhook of charge ${id}`);
  }

  async function findUnfinished(): Promise<string[]> {
    for (const id of payouts) {
      const { status } = await v1(payer, 'GET', `/payouts/${id}`);
      if (status === 'completed') payouts.delete(id);
    }
    return [...payouts].map((id) => `end of payout ${id}`);
  }
}

/** The body of a call that has to succeed. */
async function v1(merchant: Merchant, method: string, path: string, body?: object): Promise<Json> {
  const headers = { 'x-api-key': merchant.key, 'idempotency-key': randomUUID() };
  const url = `${stack().gateway_url}/v1${path}`;
  const answer = await call(url, { method, headers, body, timeoutMs: ANSWER_MS_MAX });
  if (answer.status >= 300) {
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return answer.body;
}
