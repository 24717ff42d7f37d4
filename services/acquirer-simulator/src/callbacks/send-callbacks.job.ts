import { setTimeout as delay } from 'node:timers/promises';

import type { Queryable } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import { Agent, request } from 'undici';

import {
  claimCallbacks,
  type ClaimedCallback,
  deleteCallback,
  releaseClaims,
  rescheduleCallback,
} from './callbacks.sql.ts';
import { retryDelayMs } from './retry-delay.ts';

export type CallbackSender = AsyncDisposable & {
  /** Something was queued: look now, not at the next poll. */
  kick(): void;
};

type Options = {
  db: Queryable;
  logger: Logger;
  timeoutMs: number;
  retryDelayMs: number;
  retryDelayMsMax: number;
};

const IN_FLIGHT_MAX = 64;
/** Retries and delayed notices become due without a kick. */
const POLL_INTERVAL_MS = 100;
/** How much longer than an attempt a claim lasts. */
const LEASE_MARGIN_MS = 5_000;
const ERROR_PAUSE_MS = 500;

/** Sends queued notices in parallel, at least once each, until the receiver answers 2xx. */
export async function startCallbackSender(options: Options): Promise<CallbackSender> {
  const { db, logger } = options;
  const stopping = new AbortController();
  const agent = new Agent({ connections: IN_FLIGHT_MAX });
  const inFlight = new Set<Promise<void>>();
  let wake = Promise.withResolvers<void>();
  await releaseClaims(db);
  const running = loop();
  return {
    kick: () => wake.resolve(),
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await running;
      await Promise.all(inFlight);
      await agent.destroy();
    },
  };

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await sendDue();
        await pause();
      } catch (error) {
        logger.warn({ err: error }, 'callbacks wait for the database');
        await delay(ERROR_PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  async function sendDue(): Promise<void> {
    const limit = IN_FLIGHT_MAX - inFlight.size;
    if (limit === 0) return;
    wake = Promise.withResolvers();
    const claimed = await claimCallbacks(db, { limit, leaseMs: options.timeoutMs + LEASE_MARGIN_MS });
    for (const callback of claimed) track(sendOne(callback));
    if (claimed.length === limit) wake.resolve();
  }

  function track(sending: Promise<void>): void {
    const tracked = sending
      .catch((error: unknown) => logger.warn({ err: error }, 'a callback keeps its claim'))
      .finally(() => {
        inFlight.delete(tracked);
        if (inFlight.size === IN_FLIGHT_MAX - 1) wake.resolve();
      });
    inFlight.add(tracked);
  }

  /** A kick that came while the last claim ran counts: the promise is renewed before each claim. */
  async function pause(): Promise<void> {
    const timer = new AbortController();
    const signal = AbortSignal.any([stopping.signal, timer.signal]);
    const poll = delay(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    await Promise.race([poll, wake.promise]);
    timer.abort();
  }

  async function sendOne(callback: ClaimedCallback): Promise<void> {
    if (await isTaken(callback)) return await deleteCallback(db, callback.id);
    const delays = { firstMs: options.retryDelayMs, maxMs: options.retryDelayMsMax };
    const retryInMs = retryDelayMs(callback.attempts, delays);
    if (retryInMs === null) logger.warn({ callback_id: String(callback.id) }, 'callback given up');
    await rescheduleCallback(db, callback.id, retryInMs);
  }

  /** A stop ends the attempt: the notice is due again at the next start. */
  async function isTaken(callback: ClaimedCallback): Promise<boolean> {
    try {
      const answer = await request(`${callback.url}/pix`, {
        dispatcher: agent,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: callback.body,
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(options.timeoutMs)]),
      });
      await answer.body.dump();
      return answer.statusCode >= 200 && answer.statusCode < 300;
    } catch {
      return false;
    }
  }
}
