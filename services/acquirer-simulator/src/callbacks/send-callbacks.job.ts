import { setTimeout as delay } from 'node:timers/promises';

import type { Queryable } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import {
  claimCallbacks,
  deleteCallbacks,
  releaseClaims,
  rescheduleCallback,
} from './callbacks.sql.ts';
import { type CallbackGroup, groupCallbacks } from './group-callbacks.ts';
import { createPostCallback, type PostCallback } from './post-callback.ts';
import { retryDelayMs } from './retry-delay.ts';

export type CallbackSender = AsyncDisposable & {
  /** Something was queued: claim now, not at the next poll. */
  wake(): void;
};

type Options = {
  db: Queryable;
  logger: Logger;
  timeoutMs: number;
  retryDelayMs: number;
  retryDelayMsMax: number;
};

const IN_FLIGHT_MAX = 64;
/** Retries and delayed notices become due without being woken. */
const POLL_INTERVAL_MS = 100;
/** How much longer than an attempt a claim lasts. */
const LEASE_MARGIN_MS = 5_000;
const ERROR_PAUSE_MS = 500;

/** Sends queued notices in parallel, at least once each, until the receiver answers 2xx. */
export async function startCallbackSender(options: Options): Promise<CallbackSender> {
  const { db, logger, timeoutMs } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const poster = createPostCallback({ connections: IN_FLIGHT_MAX, timeoutMs, stopping: signal });
  const inFlight = new Set<Promise<void>>();
  let woken = Promise.withResolvers<void>();
  await releaseClaims(db);
  const running = loop();
  return {
    wake: () => woken.resolve(),
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await running;
      await Promise.all(inFlight);
      await poster[Symbol.asyncDispose]();
    },
  };

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      // Renewed before the claim, so that a wake-up during it is not lost.
      woken = Promise.withResolvers();
      try {
        await sendDue();
        await waitForWork(woken.promise, signal);
      } catch (error) {
        logger.warn({ err: error }, 'callbacks not sent: database unavailable');
        await delay(ERROR_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async function sendDue(): Promise<void> {
    const limit = IN_FLIGHT_MAX - inFlight.size;
    if (limit === 0) return;
    const claimed = await claimCallbacks(db, { limit, leaseMs: timeoutMs + LEASE_MARGIN_MS });
    for (const group of groupCallbacks(claimed)) track(sendGroup(options, poster.post, group));
    if (claimed.length === limit) woken.resolve();
  }

  function track(sending: Promise<void>): void {
    const tracked = sending
      .catch((error: unknown) => logger.warn({ err: error }, 'a callback keeps its claim'))
      .finally(() => {
        inFlight.delete(tracked);
        if (inFlight.size === IN_FLIGHT_MAX - 1) woken.resolve();
      });
    inFlight.add(tracked);
  }
}

/** What failed together is tried again each by its own count, with whatever is due then. */
async function sendGroup(
  options: Options,
  post: PostCallback,
  group: CallbackGroup,
): Promise<void> {
  const { db, logger } = options;
  const taken = await post(group.url, group.body);
  if (taken) {
    const ids = group.callbacks.map(({ id }) => id);
    return await deleteCallbacks(db, ids);
  }
  const delays = { firstMs: options.retryDelayMs, maxMs: options.retryDelayMsMax };
  for (const { id, attempts } of group.callbacks) {
    const retryInMs = retryDelayMs(attempts, delays);
    if (retryInMs === null) logger.warn({ callback_id: String(id) }, 'callback given up');
    await rescheduleCallback(db, id, retryInMs);
  }
}

async function waitForWork(woken: Promise<void>, stopping: AbortSignal): Promise<void> {
  const timer = new AbortController();
  const signal = AbortSignal.any([stopping, timer.signal]);
  const poll = delay(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  await Promise.race([poll, woken]);
  timer.abort();
}
