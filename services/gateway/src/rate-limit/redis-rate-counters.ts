import { setTimeout as delay } from 'node:timers/promises';

import type { ApiKeyId } from '@pixmesh/kernel/ids';
import type { Logger } from '@pixmesh/telemetry/logger';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { createClient } from 'redis';

import { countUnlimitedRequest, reportRateLimitBack, reportRateLimitOff } from '#events.ts';

import type { RateCounters, RateVerdict } from './limit-rate.ts';

/** After a failure nobody asks for this long, so that a hanging Redis costs one request, not every one, its wait. */
const REST_MS = 1_000;
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_DELAY_MS = 100;
const RECONNECT_DELAY_MS_MAX = 2_000;
/** Commands that a connection which stopped answering may hold. */
const COMMANDS_WAITING_MAX = 1_000;
const KEY_PREFIX = 'pixmesh:rate';

const WITHIN: RateVerdict = { kind: 'within' };

type Client = ReturnType<typeof createClient>;

type CountersOptions = {
  url: string;
  logger: Logger;
  /** Requests of one key in one window, over all processes of the gateway. */
  requests: number;
  windowSeconds: number;
  /** What a request may wait for its count; then it passes uncounted. */
  timeoutMs: number;
};

/**
 * Counts requests per key in Redis: a window opens with the first request of a key and ends by its expiry, so a
 * flushed or lost Redis forgets and limits nobody. It fails open: away, slow or wrong, it costs at most one short
 * wait, is counted, and is logged once an outage.
 */
export function createRedisRateCounters(options: CountersOptions): RateCounters {
  const client = connect(options.url);
  const limiter = new RateLimiterRedis({
    storeClient: client,
    useRedisPackage: true,
    rejectIfRedisNotReady: true,
    keyPrefix: KEY_PREFIX,
    points: options.requests,
    duration: options.windowSeconds,
  });
  let isOff = false;
  let restUntilMs = 0;
  return {
    count,
    [Symbol.asyncDispose]: async () => client.destroy(),
  };

  async function count(keyId: ApiKeyId): Promise<RateVerdict> {
    if (performance.now() < restUntilMs) return passUncounted();
    // During an outage one request asks whether it is over; those beside it do not wait for the answer.
    if (isOff) restUntilMs = performance.now() + REST_MS;
    try {
      const verdict = await inTime(verdictOf(limiter.consume(keyId)), options.timeoutMs);
      if (isOff) reportRateLimitBack(options.logger);
      isOff = false;
      restUntilMs = 0;
      return verdict;
    } catch (error) {
      restUntilMs = performance.now() + REST_MS;
      if (!isOff) reportRateLimitOff(options.logger, error);
      isOff = true;
      return passUncounted();
    }
  }
}

function passUncounted(): RateVerdict {
  countUnlimitedRequest();
  return WITHIN;
}

/** The library resolves within the quota, and rejects both beyond it and on failure. */
async function verdictOf(consumed: Promise<RateLimiterRes>): Promise<RateVerdict> {
  try {
    await consumed;
    return WITHIN;
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return { kind: 'exceeded', retryAfterMs: refusal.msBeforeNext };
  }
}

async function inTime(answer: Promise<RateVerdict>, timeoutMs: number): Promise<RateVerdict> {
  const timer = new AbortController();
  const late = delay(timeoutMs, null, { signal: timer.signal }).catch(() => null);
  // What is no longer waited for must not end the process when it fails later.
  answer.catch(() => undefined);
  try {
    const verdict = await Promise.race([answer, late]);
    if (verdict === null) throw new Error(`no count within ${timeoutMs} ms`);
    return verdict;
  } finally {
    timer.abort();
  }
}

/** Connects in the background and for ever: no request waits for a connection. */
function connect(url: string): Client {
  const client: Client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: COMMANDS_WAITING_MAX,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (tries) =>
        Math.min(RECONNECT_DELAY_MS * 2 ** tries, RECONNECT_DELAY_MS_MAX),
    },
  });
  // Requests report an outage; without a listener the first one would end the process.
  client.on('error', () => undefined);
  void client.connect().catch(() => undefined);
  return client;
}
