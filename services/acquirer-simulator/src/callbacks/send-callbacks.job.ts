import type { Queryable } from '@pixmesh/postgres/pool';
import { type NextTurn, type PollingLoop, startPollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';
import type { TlsIdentity } from '@pixmesh/service/tls-identity';
import type { Logger } from '@pixmesh/telemetry/logger';

import {
  claimCallbacks,
  deleteCallbacks,
  releaseClaims,
  rescheduleCallback,
} from './callbacks.sql.ts';
import { type CallbackGroup, groupCallbacks } from './group-callbacks.ts';
import { createPostCallback } from './post-callback.ts';
import { retryDelayMs } from './retry-delay.ts';

type Options = {
  db: Queryable;
  logger: Logger;
  /** Notified when something was queued. */
  signal: WakeSignal;
  /** What callbacks show to a URL that asks for a certificate. */
  clientTls: TlsIdentity | null;
  timeoutMs: number;
  retryDelayMs: number;
  retryDelayMsMax: number;
};

const IN_FLIGHT_MAX = 64;
/** Retries and delayed notices become due by themselves: the job of due work, which looks for them, wakes this one. */
const POLL_INTERVAL_MS = 2_000;
/** How much longer than an attempt a claim lasts. */
const LEASE_MARGIN_MS = 5_000;

/** Sends queued notices in parallel, at least once each, until the receiver answers 2xx. */
export async function startCallbackSender(options: Options): Promise<PollingLoop> {
  const { db, logger, signal, timeoutMs } = options;
  const stopping = new AbortController();
  const poster = createPostCallback({
    connections: IN_FLIGHT_MAX,
    clientTls: options.clientTls,
    timeoutMs,
    stopping: stopping.signal,
  });
  const inFlight = new Set<Promise<void>>();
  const delivered: bigint[] = [];
  await releaseClaims(db);
  const loop = startPollingLoop({ name: 'callbacks', logger, signal, turn });
  return {
    isAlive: loop.isAlive,
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await loop[Symbol.asyncDispose]();
      await Promise.all(inFlight);
      if (delivered.length > 0) await deleteCallbacks(db, delivered);
      await poster[Symbol.asyncDispose]();
    },
  };

  async function turn(): Promise<NextTurn> {
    const limit = IN_FLIGHT_MAX - inFlight.size;
    if (limit === 0 && delivered.length === 0) return { pauseMs: POLL_INTERVAL_MS };
    const leaseMs = timeoutMs + LEASE_MARGIN_MS;
    // Where this fails, what was delivered keeps its claim, and is sent again when that ends.
    const claimed = await claimCallbacks(db, { limit, leaseMs, delivered: delivered.splice(0) });
    for (const group of groupCallbacks(claimed)) track(send(group));
    return { pauseMs: limit > 0 && claimed.length === limit ? 0 : POLL_INTERVAL_MS };
  }

  /** The next turn, which is woken, takes what was delivered off the queue together with its claim. */
  async function send(group: CallbackGroup): Promise<void> {
    const taken = await poster.post(group.url, group.body);
    if (!taken) return await reschedule(options, group);
    delivered.push(...group.callbacks.map(({ id }) => id));
    signal.notify();
  }

  function track(sending: Promise<void>): void {
    const tracked = sending
      .catch((error: unknown) =>
        logger.warn({ err: error }, 'callback not released: it is sent again when its claim ends'),
      )
      .finally(() => {
        inFlight.delete(tracked);
        if (inFlight.size === IN_FLIGHT_MAX - 1) signal.notify();
      });
    inFlight.add(tracked);
  }
}

/** What failed together is tried again each by its own count, with whatever is due then. */
async function reschedule(options: Options, group: CallbackGroup): Promise<void> {
  const { db, logger } = options;
  const delays = { firstMs: options.retryDelayMs, maxMs: options.retryDelayMsMax };
  for (const { id, attempts } of group.callbacks) {
    const retryInMs = retryDelayMs(attempts, delays);
    if (retryInMs === null) logger.warn({ callback_id: String(id) }, 'callback given up');
    await rescheduleCallback(db, id, retryInMs);
  }
}
