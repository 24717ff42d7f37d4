import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { eventually } from '@pixmesh/testkit/eventually';
import { expect } from 'vitest';

import type { ClientHistory } from '../client-history.ts';
import { type Answer, createCharge, type Merchant, simulator, v1 } from '../mesh.ts';

/** One call as its client saw it; `status` is null where no answer came. Times are those of the machine's clock. */
export type TimedCall = {
  kind: 'payout' | 'charge' | 'balance' | 'list of payouts';
  id: string;
  status: number | null;
  startMs: number;
  endMs: number;
};

export type TimedLoad = {
  readonly calls: readonly TimedCall[];
  /** Resolves when every client has ended; a creation without an answer is repeated with its key until then. */
  stop(): Promise<void>;
};

/** Between the beginnings of two calls of a client: two cores that start a process every 5 s carry no more. */
const PACE_MS = 500;
/** Hosts of the receiver: each is served by one sender, so deliveries to them pause by themselves. */
const HOSTS = ['a', 'b', 'c', 'd'];
const PAID_SHARE = 0.3;

/** Clients that create payouts and charges, pay some of the charges, and read, until they are stopped. */
export function startTimedLoad(input: {
  history: ClientHistory;
  payers: readonly Merchant[];
  hookPath: string;
  paceMs?: number;
}): TimedLoad {
  const { history, payers, hookPath, paceMs = PACE_MS } = input;
  const calls: TimedCall[] = [];
  const stopping = new AbortController();
  const clients = payers.flatMap((merchant, index) => [
    () => pay(merchant, HOSTS[index % HOSTS.length] ?? ''),
    () => sell(merchant),
    () => timed('balance', '', () => v1(merchant, 'GET /balance')),
    () => timed('list of payouts', '', () => v1(merchant, 'GET /payouts?limit=3')),
  ]);
  const running = Promise.all(
    clients.map((work, index) => repeat(work, (index / clients.length) * paceMs)),
  );
  // A client that gives up is reported at the end; until then the others go on.
  running.catch(() => undefined);
  return {
    calls,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };

  /** Clients begin one after the other: calls that all come at the same moment would wait for each other. */
  async function repeat(work: () => Promise<unknown>, firstInMs: number): Promise<void> {
    let nextMs = performance.now() + firstInMs;
    for (;;) {
      const pauseMs = Math.max(0, nextMs - performance.now());
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      nextMs = performance.now() + paceMs;
      await work();
    }
  }

  async function pay(merchant: Merchant, host: string): Promise<void> {
    const key = randomUUID();
    const changes = { webhook_url: `http://${host}.receiver.example.com${hookPath}` };
    await eventually(async () => {
      const startMs = Date.now();
      const { id, status, outcome } = await history.createPayout(merchant, changes, key);
      calls.push({ kind: 'payout', id, status, startMs, endMs: Date.now() });
      expect(outcome).toBe('ok');
    }, 90_000);
  }

  async function sell(merchant: Merchant): Promise<void> {
    const key = randomUUID();
    const charge = await eventually(async () => {
      const answer = await timed('charge', key, () => createCharge(merchant, {}, key));
      expect(answer?.status).toBe(201);
      return answer?.body;
    }, 90_000);
    if (charge.status !== 'pending' || Math.random() > PAID_SHARE) return;
    await simulator.pay(charge.id);
    merchant.funding.push(charge.id);
  }

  async function timed(
    kind: TimedCall['kind'],
    id: string,
    work: () => Promise<Answer>,
  ): Promise<Answer | null> {
    const startMs = Date.now();
    const answer = await work().catch(() => null);
    calls.push({ kind, id, status: answer?.status ?? null, startMs, endMs: Date.now() });
    return answer;
  }
}

/** The share `p` of the calls of one kind took at most so many milliseconds. */
export function quantileMs(calls: readonly TimedCall[], p: number): number {
  const sorted = calls.map(({ startMs, endMs }) => endMs - startMs).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? 0;
}
