import { setTimeout as delay } from 'node:timers/promises';

import { type Child, startChild } from './child-calls.ts';
import type { WebhookReceiverCalls } from './webhook-receiver-process.ts';

const RECEIVER = new URL('./webhook-receiver-process.ts', import.meta.url);
/** Below it every name leads to the receiver (`WEBHOOK_DEV_RECEIVERS`). */
const RECEIVER_DOMAIN = 'bench.example.com';
const RECEIVER_ORIGIN = receiverOrigin('hooks');
const ARRIVALS_POLL_MS = 5;
/** What has not arrived by then is an error. */
const ARRIVAL_MS_MAX = 60_000;

export type Webhooks = {
  urlOf(path: string): string;
  countSlow(): Promise<number>;
  /** When the event of a resource arrived, in milliseconds of `performance.now()`; null where it did not in time. */
  arrival(event: string, id: string): Promise<number | null>;
};

export type WebhookReceiver = AsyncDisposable & {
  readonly webhooks: Webhooks;
  /** What a dispatcher has to be started with, so that its webhooks arrive here. */
  readonly env: NodeJS.ProcessEnv;
};

/** Each host of an account has its own lane, and a lane has one sender. */
export function receiverOrigin(host: string): string {
  return `http://${host}.${RECEIVER_DOMAIN}`;
}

/** A process that receives webhooks, and what has arrived there. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const receiver = startChild<WebhookReceiverCalls>(RECEIVER);
  const { port } = await receiver.call('listen', {});
  const webhooks = watchWebhooks(receiver);
  return {
    webhooks,
    env: { WEBHOOK_DEV_RECEIVERS: `*.${RECEIVER_DOMAIN}=127.0.0.1:${port}` },
    [Symbol.asyncDispose]: async () => {
      await webhooks[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
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
