import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { eventually } from '@pixmesh/testkit/eventually';

import type { DrillMesh, Json } from '../mesh/drill-mesh.ts';
import { findBreaks } from '../mesh/reconcile.ts';
import {
  availableOf,
  CHARGE_CENTS,
  createCharge,
  createMerchant,
  createPayout,
  type Merchant,
  pay,
  PAYOUT_CENTS,
  statusOf,
} from './merchant.ts';

const INTERVAL_MS = 500;
/** Every so many lives pay out, too. */
const PAYOUT_EVERY = 4;
const REPEAT_MS = 500;
/** A call is repeated under its key until then, as merchants are told to. */
const LIFE_MS_MAX = 300_000;
const SETTLED_MS_MAX = 300_000;
const RECEIVER = 'drill.receiver.example.com';
const PAGE = 5_000;

export type LightLoad = {
  /** Calls that failed and were repeated. */
  failures(): number;
  /** Charges whose webhook of their payment has not come. */
  undelivered(): Promise<string[]>;
  /** No life begins any more; resolves when those that have begun have ended. */
  stop(): Promise<void>;
  /** Lives that began. */
  lives(): number;
  /** One line for whatever was lost, doubled or differs; empty once everything has come to rest. */
  verify(): Promise<string[]>;
};

/** A merchant with few calls: charges that are paid, and payouts of that money, until it is stopped. */
export async function startLightLoad(mesh: DrillMesh): Promise<LightLoad> {
  const merchant = await createMerchant(mesh);
  const hook = `/${randomUUID()}`;
  const [charges, payouts]: [string[], string[]] = [[], []];
  const stopping = new AbortController();
  const lives: Promise<void>[] = [];
  let failures = 0;
  const began = begin();
  const books = { merchant, hook, charges, payouts };
  return {
    failures: () => failures,
    undelivered: () => findUndelivered(mesh, books),
    stop,
    lives: () => lives.length,
    verify: () => verifyBooks(mesh, books),
  };

  async function begin(): Promise<void> {
    while (!stopping.signal.aborted) {
      const life = live(lives.length);
      // What ends one is reported by `stop`.
      life.catch(() => undefined);
      lives.push(life);
      await delay(INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  async function live(index: number): Promise<void> {
    const idempotencyKey = randomUUID();
    const webhookUrl = `http://${RECEIVER}${hook}`;
    const id = await repeated(() => createCharge(mesh, merchant, { idempotencyKey, webhookUrl }));
    charges.push(id);
    await repeated(() => pay(mesh, id));
    if (index % PAYOUT_EVERY !== 0) return;
    // That it is not paid yet is no call that failed.
    await eventually(() => expectStatus(merchant, `charges/${id}`, 'paid'), LIFE_MS_MAX);
    payouts.push(await repeated(() => createPayout(mesh, merchant, idempotencyKey)));
  }

  async function repeated<T>(work: () => Promise<T>): Promise<T> {
    const endMs = performance.now() + LIFE_MS_MAX;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        failures += 1;
        if (performance.now() > endMs) throw error;
        await delay(REPEAT_MS);
      }
    }
  }

  async function expectStatus(of: Merchant, resource: string, status: string): Promise<void> {
    const found = await statusOf(mesh, of, resource);
    if (found !== status) throw new Error(`${resource} is ${found}, not ${status}`);
  }

  async function stop(): Promise<void> {
    stopping.abort();
    await began;
    await Promise.all(lives);
  }
}

type Books = { merchant: Merchant; hook: string; charges: string[]; payouts: string[] };

async function verifyBooks(mesh: DrillMesh, books: Books): Promise<string[]> {
  let found: string[] = ['nothing was compared'];
  await eventually(async () => {
    found = await findProblems(mesh, books);
    if (found.length > 0) throw new Error(found.join(', '));
  }, SETTLED_MS_MAX).catch(() => undefined);
  return found;
}

async function findProblems(mesh: DrillMesh, books: Books): Promise<string[]> {
  const { merchant, charges, payouts } = books;
  const ended = [
    ...charges.map((id) => ({ resource: `charges/${id}`, status: 'paid' })),
    ...payouts.map((id) => ({ resource: `payouts/${id}`, status: 'completed' })),
  ];
  const problems: string[] = [];
  for (const { resource, status } of ended) {
    const own = await statusOf(mesh, merchant, resource);
    if (own !== status) problems.push(`${resource} is ${own}`);
  }
  const lost = await findUndelivered(mesh, books);
  problems.push(...lost.map((id) => `no webhook of ${id}`));
  const expected = charges.length * CHARGE_CENTS - payouts.length * PAYOUT_CENTS;
  const available = await availableOf(mesh, merchant);
  if (available !== expected) problems.push(`available is ${available}, not ${expected}`);
  return [...problems, ...(await findBreaks(mesh))];
}

async function findUndelivered(mesh: DrillMesh, { hook, charges }: Books): Promise<string[]> {
  const arrived = new Set(await readArrivals(mesh, hook));
  return charges.filter((id) => !arrived.has(id));
}

/** Ids of charges whose payment reached the development receiver. */
async function readArrivals(mesh: DrillMesh, hook: string): Promise<string[]> {
  const ids: string[] = [];
  for (let after = 0; ;) {
    const url = `${mesh.stack().receiver_url}/requests?path=${hook}&after=${after}&limit=${PAGE}`;
    const { data } = (await (await fetch(url)).json()) as { data: Json[] };
    for (const request of data) {
      const text = Buffer.from(String(request['body_base64']), 'base64').toString();
      const body = JSON.parse(text) as { event: string; data: { id: string } };
      if (body.event === 'charge.pix.paid') ids.push(body.data.id);
    }
    if (data.length < PAGE) return ids;
    after = Number(data.at(-1)?.['sequence']);
  }
}
