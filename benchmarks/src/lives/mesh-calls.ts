import { randomUUID } from 'node:crypto';

import { TOPICS } from '@pixmesh/contracts/topics';
import { accessOfFiles } from '@pixmesh/kafka/broker-access';
import { tailTopic } from '@pixmesh/kafka/tail';
import { Pool } from 'undici';

import type { Webhooks } from '../webhook-arrivals.ts';
import type { Stack } from '../with-stack.ts';

/** More than any measurement has under way. */
const CONNECTIONS = 128;
const COMPLETED_MS_MAX = 60_000;
const CUSTOMER = { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' };

export type MeshMerchant = { key: string };

/** The calls that lives are made of. Each throws where it is not answered with a success. */
export type Mesh = {
  /** Without a `webhook_url` in its body the charge has that of all others. */
  createCharge(merchant: MeshMerchant, body: object): Promise<string>;
  createPayout(merchant: MeshMerchant): Promise<string>;
  pay(chargeId: string): Promise<void>;
  refund(chargeId: string): Promise<void>;
  /** Answers the milliseconds from the dispute to the webhook that it was won. */
  disputeAndWin(chargeId: string): Promise<number>;
  approve(payoutId: string): Promise<void>;
  /** `GET` of a path of the API. */
  read(merchant: MeshMerchant, path: string): Promise<void>;
  /** When the webhook arrived, in milliseconds of `performance.now()`. */
  arrival(event: string, id: string): Promise<number>;
  /** When the payout was completed, which no webhook says. */
  completion(payoutId: string): Promise<number>;
};

type Json = Record<string, unknown>;

export function aCharge(): object {
  return { amount: 1_000, customer: CUSTOMER };
}

export function openMesh(stack: Stack, webhooks: Webhooks): Mesh & AsyncDisposable {
  const v1 = createCaller(stack.gateway_url);
  const admin = createCaller(stack.admin_url);
  const simulator = createCaller(stack.simulator_url);
  const operator = { authorization: `Bearer ${stack.admin_token}`, 'x-operator': 'bench' };
  const webhookUrl = webhooks.urlOf('/hook');
  const payouts = watchCompletions(stack);
  return {
    createCharge: async ({ key }, body) =>
      idOf(await v1('/v1/charges', { webhook_url: webhookUrl, ...body }, create(key))),
    createPayout: async ({ key }) =>
      idOf(await v1('/v1/payouts', { ...aPayout(), webhook_url: webhookUrl }, create(key))),
    pay: async (id) => void (await simulator(`/control/charges/${id}/pay`, {})),
    refund: async (id) =>
      void (await admin(
        `/admin/charges/${id}/refunds`,
        {},
        { ...operator, 'idempotency-key': randomUUID() },
      )),
    disputeAndWin,
    approve: async (id) => void (await admin(`/admin/payouts/${id}/approve`, {}, operator)),
    read: async ({ key }, path) => void (await v1(path, null, { 'x-api-key': key })),
    arrival,
    completion: payouts.completion,
    [Symbol.asyncDispose]: payouts[Symbol.asyncDispose],
  };

  async function disputeAndWin(chargeId: string): Promise<number> {
    const { end_to_end_id: endToEndId } = await readPix(chargeId);
    const startedMs = performance.now();
    const dispute = await simulator('/control/disputes', { end_to_end_id: endToEndId });
    await arrival('dispute.pix.opened', chargeId);
    await simulator(`/control/disputes/${idOf(dispute)}/decide`, { outcome: 'won' });
    return (await arrival('dispute.pix.won', chargeId)) - startedMs;
  }

  async function readPix(chargeId: string): Promise<Json> {
    const url = `${stack.admin_url}/admin/charges/${chargeId}`;
    return (await (await fetch(url, { headers: operator })).json()) as Json;
  }

  async function arrival(event: string, id: string): Promise<number> {
    const atMs = await webhooks.arrival(event, id);
    if (atMs === null) throw new Error(`${event} of ${id} has not arrived`);
    return atMs;
  }
}

function aPayout(): object {
  return { amount: 500, pix_key_type: 'email', pix_key: 'joao@example.com' };
}

function create(key: string): Record<string, string> {
  return { 'x-api-key': key, 'idempotency-key': randomUUID() };
}

function idOf(body: Json): string {
  return String(body['id']);
}

function createCaller(origin: string) {
  const pool = new Pool(origin, { connections: CONNECTIONS });
  return async (
    path: string,
    body: object | null,
    headers: Record<string, string> = {},
  ): Promise<Json> => {
    const method = body === null ? 'GET' : 'POST';
    const answer = await pool.request({
      method,
      path,
      headers: body === null ? headers : { ...headers, 'content-type': 'application/json' },
      body: body === null ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) {
      throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
    }
    return JSON.parse(text) as Json;
  };
}

/** Follows the events of payouts at the broker: their last one is not delivered to merchants. */
function watchCompletions(stack: Stack): Pick<Mesh, 'completion'> & AsyncDisposable {
  const stopping = new AbortController();
  const completed = new Map<string, number>();
  const expected = new Map<string, (atMs: number) => void>();
  const following = tailTopic({
    ...accessOfFiles(stack.kafka_brokers, stack.kafka_tls),
    registryUrl: stack.registry_url,
    topic: TOPICS.payoutsEvents,
    fromBeginning: true,
    signal: stopping.signal,
    onMessage: ({ headers, key }) => {
      if (headers['type'] !== 'payment.pix.completed' || key === null) return;
      completed.set(key, performance.now());
      expected.get(key)?.(performance.now());
    },
  });
  return {
    completion: async (id) => {
      const known = completed.get(id);
      if (known !== undefined) return known;
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      expected.set(id, resolve);
      const late = () => reject(new Error(`payout ${id} is not completed`));
      const timer = setTimeout(late, COMPLETED_MS_MAX);
      return await promise.finally(() => clearTimeout(timer));
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await following;
    },
  };
}
