import { setTimeout as delay } from 'node:timers/promises';

import { call } from '@pixmesh/local-stack/http-call';

import { type Child, startChild } from '../child-calls.ts';
import { createMerchant, type Merchant } from '../payouts/merchant.ts';
import { type Stack, withStack } from '../with-stack.ts';
import type { AggressorCalls } from './aggressor-process.ts';
import type { WebhookReceiverCalls } from './webhook-receiver-process.ts';

const AGGRESSOR = new URL('./aggressor-process.ts', import.meta.url);
const RECEIVER = new URL('./webhook-receiver-process.ts', import.meta.url);
/** Of the names that `WEBHOOK_DEV_RECEIVERS` points to the receiver. */
const RECEIVER_ORIGIN = 'http://hooks.bench.example.com';
const ARRIVALS_POLL_MS = 5;
/** What has not arrived by then is an error. */
const ARRIVAL_MS_MAX = 60_000;

/** A running mesh with two merchants on it, of which one disturbs the other. */
export type Arena = {
  stack: Stack;
  victim: Merchant;
  aggressor: Merchant;
  /** A process of its own, so that the driver's event loop measures the victim alone. */
  attack: Child<AggressorCalls>;
  webhooks: Webhooks;
  /** What goes wrong at the acquirer from now on. */
  setFaults(rules: readonly object[]): Promise<void>;
};

type Webhooks = {
  urlOf(path: string): string;
  countSlow(): Promise<number>;
  /** When the event of a resource arrived, in milliseconds of `performance.now()`; null where it did not in time. */
  arrival(event: string, id: string): Promise<number | null>;
};

/** Boots the mesh of this checkout, or of the one in `folder`, for the time of `work`. */
export async function withArenas(
  folder: string | null,
  work: (openArena: () => Promise<Arena>) => Promise<void>,
): Promise<void> {
  await using receiver = startChild<WebhookReceiverCalls>(RECEIVER);
  await using attack = startChild<AggressorCalls>(AGGRESSOR);
  const { port } = await receiver.call('listen', {});
  const env = { WEBHOOK_DEV_RECEIVERS: `*.bench.example.com=127.0.0.1:${port}` };
  const place = { home: '.pixmesh-bench-fairness', checkout: folder ?? '.', env };
  await withStack(place, async (stack) => {
    await using webhooks = watchWebhooks(receiver);
    const setFaults = (rules: readonly object[]) =>
      call<void>('PUT', `${stack.simulator_url}/control/faults`, { body: { rules } });
    await work(async () => {
      await setFaults([]);
      const victim = await createMerchant(stack, true);
      const aggressor = await createMerchant(stack, true);
      return { stack, victim, aggressor, attack, webhooks, setFaults };
    });
  });
}

function watchWebhooks(receiver: Child<WebhookReceiverCalls>): Webhooks & AsyncDisposable {
  const arrived = new Map<string, number>();
  const expected = new Map<string, (atMs: number | null) => void>();
  const closing = new AbortController();
  const watching = watch();
  return {
    urlOf: (path) => `${RECEIVER_ORIGIN}${path}`,
    countSlow: () => receiver.call('countSlow', {}),
    arrival: async (event, id) => {
      const name = `${event} ${id}`;
      const { promise, resolve } = Promise.withResolvers<number | null>();
      const timer = setTimeout(() => resolve(null), ARRIVAL_MS_MAX);
      const known = arrived.get(name);
      if (known === undefined) expected.set(name, resolve);
      else resolve(known);
      return await promise.finally(() => clearTimeout(timer));
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await watching;
    },
  };

  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      for (const { event, id, atMs } of await receiver.call('takeArrivals', {})) {
        const sinceStartMs = atMs - performance.timeOrigin;
        arrived.set(`${event} ${id}`, sinceStartMs);
        expected.get(`${event} ${id}`)?.(sinceStartMs);
      }
      await delay(ARRIVALS_POLL_MS);
    }
  }
}
