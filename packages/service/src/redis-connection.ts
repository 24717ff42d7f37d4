import { within } from '@pixmesh/kernel/within';
import type { Logger } from '@pixmesh/telemetry/logger';
import { counter, observedGauge } from '@pixmesh/telemetry/metrics';
import { z } from 'zod';

const CONNECT_TIMEOUT_MS = 2_000;
/** A server that takes longer counts as one that does not answer. */
const ANSWER_MS_MAX = 1_000;
const RECONNECT_DELAY_MS = 100;
const RECONNECT_DELAY_MS_MAX = 2_000;
/** By these words Redis refuses a user, a password, or what the user may not do. */
const REFUSALS = /^(WRONGPASS|NOAUTH|NOPERM)\b/;

const refusals = counter(
  'redis_refused_total',
  'Connections and commands that Redis refused for their user, password or rights',
);

/** Settings of a service that can use Redis, and goes on without it. */
export const RedisConfig = {
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'expected a redis:// or rediss:// URL' })
    .optional(),
  /** Who signed the certificate of a `rediss://` server; absent: the authorities that Node.js knows. */
  REDIS_TLS_CA: z.string().optional(),
} as const;

export type RedisAddress = { url: string; ca?: string | undefined };

/** What a service knows of its connection. */
type RedisClient = { readonly isReady: boolean; ping(): Promise<unknown> };

export function observeRedis(client: RedisClient): void {
  const answers = probeRedis(client);
  observedGauge('redis_up', '1 where Redis has answered this scrape', async () => [
    { value: (await answers()) ? 1 : 0 },
  ]);
}

/**
 * Asks whether Redis answers: one that hangs keeps its connections. A question that stays unanswered is not repeated.
 */
export function probeRedis(client: RedisClient): () => Promise<boolean> {
  let asked: Promise<boolean> | null = null;
  return async () => {
    if (!client.isReady) return false;
    asked ??= client
      .ping()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asked = null;
      });
    return await within(ANSWER_MS_MAX, asked, false);
  };
}

/** Null where no Redis is configured. */
export function redisAddress(config: {
  REDIS_URL?: string | undefined;
  REDIS_TLS_CA?: string | undefined;
}): RedisAddress | null {
  const { REDIS_URL: url, REDIS_TLS_CA: ca } = config;
  return url === undefined ? null : { url, ca };
}

/** How a service connects: in the background, again and again, and by TLS where the URL says so. */
export function redisOptions({ url, ca }: RedisAddress) {
  const socket = {
    connectTimeout: CONNECT_TIMEOUT_MS,
    reconnectStrategy: (tries: number) =>
      Math.min(RECONNECT_DELAY_MS * 2 ** tries, RECONNECT_DELAY_MS_MAX),
  };
  const hasOwnAuthority = url.startsWith('rediss:') && ca !== undefined;
  return { url, socket: hasOwnAuthority ? { ...socket, tls: true as const, ca } : socket };
}

/**
 * To a service, a Redis that refuses it is like one that is away. But it does not come back by itself, so each refusal
 * is counted, and the first of a stretch is an error in the log.
 */
export function createRefusalReport(logger: Logger): {
  /** Whether the error was a refusal. */
  note(error: unknown): boolean;
  accepted(): void;
} {
  let isRefused = false;
  return {
    note(error) {
      if (!(error instanceof Error) || !REFUSALS.test(error.message)) return false;
      refusals.add(1);
      if (!isRefused) logger.error({ err: error }, 'redis refused: check the user of REDIS_URL');
      isRefused = true;
      return true;
    },
    accepted() {
      isRefused = false;
    },
  };
}
