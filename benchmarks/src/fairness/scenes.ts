import { call as callHttp } from '@pixmesh/local-stack/http-call';

import { listPayouts } from '../payouts/merchant.ts';
import { until } from '../until.ts';
import type { RepeatedCall } from './aggressor-process.ts';
import type { Arena } from './arena.ts';
import type { SteadyCall } from './steady-calls.ts';
import { aCharge, aPayout, createVictimCalls } from './victim-calls.ts';
import { SLOW_PATH, UNNOTED_PATH } from '../webhook-receiver-process.ts';

const CREATIONS = 250;
const SLOW_ACQUIRER_MS = 3_000;
const ENDPOINTS = 100;
/** 3,600 deliveries for each minute: 512 slots of one account take that long for them. */
const EVENTS_TO_SLOW = 120;
const FANNED_OUT_WORKERS = 2;
const QUEUED_PAYOUTS = 10_000;
const LISTED_CHARGES = 5_000;
const LISTERS = 16;
const SOCKETS = 1_000;
const HOT_WORKERS = 64;
const FILLING_WORKERS = 32;
/** Where the aggressor's payouts go, so that the simulator can tell them apart. */
const AGGRESSOR_PIX_KEY = 'aggressor@example.com';

/** What a scene is made of once its ground is laid. */
export type OpenScene = {
  victims: Readonly<Record<string, SteadyCall>>;
  /** Begins what disturbs; `attack.stop` ends its calls. */
  aggress(): Promise<void>;
  /** What the aggressor has got done so far. */
  worked(): Promise<number>;
  /** Ends what would disturb the next scene, where its calls leave something. */
  end?(): Promise<void>;
};

/** One scarce thing, somebody who takes all of it, and somebody who needs a little. */
export type Scene = {
  name: string;
  /** Both of them slow down where two cores are all there is. */
  saturatesCpu: boolean;
  open(arena: Arena): Promise<OpenScene>;
};

export const SCENES: readonly Scene[] = [
  { name: 'creations', saturatesCpu: false, open: openCreations },
  { name: 'endpoints', saturatesCpu: false, open: openEndpoints },
  { name: 'fan-out', saturatesCpu: true, open: openFanOut },
  { name: 'payouts', saturatesCpu: true, open: openPayouts },
  { name: 'list', saturatesCpu: false, open: openList },
  { name: 'sockets', saturatesCpu: false, open: openSockets },
  { name: 'hot-account', saturatesCpu: true, open: openHotAccount },
];

/** 250 creations at a time at an acquirer that takes three seconds. */
async function openCreations(arena: Arena): Promise<OpenScene> {
  const id = await firstCharge(arena);
  const rule = { operation: 'issueCharge', fault: 'latency', delay_ms: SLOW_ACQUIRER_MS };
  await arena.setFaults([rule]);
  const calls = createVictimCalls(arena);
  return {
    victims: { creations: calls.createCharge(), reads: calls.read(`/v1/charges/${id}`) },
    aggress: () => loop(arena, post(arena, '/v1/charges', aCharge()), CREATIONS),
    worked: () => countOk(arena),
  };
}

/** 120 charges for 100 endpoints that take eight seconds each: 12,000 deliveries. */
async function openEndpoints(arena: Arena): Promise<OpenScene> {
  const calls = createVictimCalls(arena);
  const url = arena.webhooks.urlOf(SLOW_PATH);
  const endpoint = { url, events: ['charge.pix.created'] };
  await finish(arena, { call: post(arena, '/v1/webhooks', endpoint), total: ENDPOINTS });
  return {
    victims: { webhooks: calls.webhookOfCharge() },
    aggress: () =>
      finish(arena, { call: post(arena, '/v1/charges', aCharge()), total: EVENTS_TO_SLOW }),
    worked: () => arena.webhooks.countSlow(),
  };
}

/** Two creations at a time, each with two events for 100 endpoints: more deliveries than can be sent. */
async function openFanOut(arena: Arena): Promise<OpenScene> {
  const calls = createVictimCalls(arena);
  const url = arena.webhooks.urlOf(UNNOTED_PATH);
  const endpoint = { url, events: ['charge.pix.created', 'charge.pix.emitted'] };
  await finish(arena, { call: post(arena, '/v1/webhooks', endpoint), total: ENDPOINTS });
  return {
    victims: { webhooks: calls.webhookOfCharge() },
    aggress: () => loop(arena, post(arena, '/v1/charges', aCharge()), FANNED_OUT_WORKERS),
    worked: () => countOk(arena),
    end: () => deleteEndpoints(arena),
  };
}

/** 10,000 payouts that wait while the acquirer is slow for them, and are sent once it is not. */
async function openPayouts(arena: Arena): Promise<OpenScene> {
  const calls = createVictimCalls(arena);
  let queued = 0;
  return {
    victims: { payouts: calls.payOutUntilSent() },
    aggress: async () => {
      const only = { pix_key: AGGRESSOR_PIX_KEY };
      await arena.setFaults([{ operation: 'sendPayout', fault: 'latency', delay_ms: 2_000, only }]);
      const call = post(arena, '/v1/payouts', aPayout(AGGRESSOR_PIX_KEY));
      await finish(arena, { call, total: QUEUED_PAYOUTS });
      queued = await countProcessing(arena);
      await arena.setFaults([]);
    },
    worked: async () => queued - (await countProcessing(arena)),
  };
}

/** Sixteen callers that read page after page of a hundred, of an account with thousands of charges. */
async function openList(arena: Arena): Promise<OpenScene> {
  const calls = createVictimCalls(arena);
  await firstCharge(arena);
  await finish(arena, { call: post(arena, '/v1/charges', aCharge()), total: LISTED_CHARGES });
  return {
    victims: { lists: calls.read('/v1/charges?limit=10') },
    aggress: () => loop(arena, get(arena, '/v1/charges?limit=100'), LISTERS),
    worked: () => countOk(arena),
  };
}

/** A thousand sockets, each of which sends the body of a creation a few bytes at a time. */
async function openSockets(arena: Arena): Promise<OpenScene> {
  const id = await firstCharge(arena);
  const calls = createVictimCalls(arena);
  return {
    victims: { creations: calls.createCharge(), reads: calls.read(`/v1/charges/${id}`) },
    aggress: () =>
      arena.attack.call('trickle', { ...post(arena, '/v1/charges', aCharge()), sockets: SOCKETS }),
    worked: () => countOk(arena),
  };
}

/** Payouts of one account as fast as it goes: each holds money of the same row of the ledger. */
async function openHotAccount(arena: Arena): Promise<OpenScene> {
  const calls = createVictimCalls(arena);
  return {
    victims: { payouts: calls.payOut() },
    aggress: () => loop(arena, post(arena, '/v1/payouts', aPayout()), HOT_WORKERS),
    worked: () => countOk(arena),
  };
}

function post({ stack, aggressor }: Arena, path: string, body: object): RepeatedCall {
  return { method: 'POST', url: `${stack.gateway_url}${path}`, key: aggressor.key, body };
}

function get({ stack, aggressor }: Arena, path: string): RepeatedCall {
  return { method: 'GET', url: `${stack.gateway_url}${path}`, key: aggressor.key, body: null };
}

async function loop({ attack }: Arena, call: RepeatedCall, workers: number): Promise<void> {
  await attack.call('loop', { ...call, workers, total: null });
}

/** So many calls, all of which have to succeed. */
async function finish(
  { attack }: Arena,
  { call, total }: { call: RepeatedCall; total: number },
): Promise<void> {
  const before = (await attack.call('count', {})).ok;
  await attack.call('loop', { ...call, workers: FILLING_WORKERS, total });
  await until(`${total} calls`, async () => {
    const { ok } = await attack.call('count', {});
    return ok - before >= total;
  });
}

/** What waits for them ends with them. */
async function deleteEndpoints({ stack, aggressor }: Arena): Promise<void> {
  const url = `${stack.gateway_url}/v1/webhooks`;
  const headers = { 'x-api-key': aggressor.key };
  const { data } = await callHttp<{ data: { id: string }[] }>('GET', url, { headers });
  for (const { id } of data) await callHttp<void>('DELETE', `${url}/${id}`, { headers });
}

async function countOk({ attack }: Arena): Promise<number> {
  return (await attack.call('count', {})).ok;
}

async function countProcessing({ stack, aggressor }: Arena): Promise<number> {
  const payouts = await listPayouts(stack, aggressor);
  return payouts.filter(({ status }) => status === 'processing').length;
}

async function firstCharge({ victim }: Arena): Promise<string> {
  return (await victim.client.createCharge(aCharge())).id;
}
