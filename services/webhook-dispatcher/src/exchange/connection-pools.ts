import { buildConnector, Pool } from 'undici';

import { connectFailure } from './attempt-failure.ts';
import type { DialTarget } from './dial-target.ts';

/** Receivers with a kept pool; the one used longest ago makes room. */
const POOLS_MAX = 1_000;
/** Heads above this are a failure. */
const HEADER_BYTES_MAX = 16 * 1024;
/** Shorter than what servers allow, so that a socket is rarely reused while its peer closes it. */
const KEEP_ALIVE_TIMEOUT_MS = 4_000;
const KEEP_ALIVE_TIMEOUT_MS_MAX = 30_000;
/** A name with several addresses must not spend its whole deadline on a silent one. */
const CONNECT_TIMEOUT_MS_WITH_FALLBACK = 3_000;

/** Opens a socket to what `hostname` and `port` say; tests put their own behind it to see what is dialled. */
export type OpenSocket = (timeoutMs: number) => buildConnector.connector;

type PoolsOptions = { connectTimeoutMs: number; openSocket: OpenSocket };

export const openVerifiedSocket: OpenSocket = (timeout) =>
  buildConnector({ timeout, allowH2: false, rejectUnauthorized: true });

export type ConnectionPools = AsyncDisposable & {
  /** A pool whose sockets lead to exactly this address, under the name, Host and SNI of the URL. */
  poolFor(url: URL, target: DialTarget, hasFallback: boolean): Pool;
};

/**
 * Kept-alive sockets, keyed by name and checked address together: a socket is reused only for an attempt
 * that has checked the very address it leads to (reliability section 6, rule 8). No HTTP/2, no proxy from
 * the environment, TLS always verified, redirects never followed.
 */
export function createConnectionPools(options: PoolsOptions): ConnectionPools {
  const pools = new Map<string, Pool>();
  return {
    poolFor: (url, target, hasFallback) => {
      const connectTimeoutMs = hasFallback
        ? Math.min(CONNECT_TIMEOUT_MS_WITH_FALLBACK, options.connectTimeoutMs)
        : options.connectTimeoutMs;
      const key = `${url.origin} ${target.address} ${target.port} ${connectTimeoutMs}`;
      const pool =
        pools.get(key) ?? createPool(url, pinned(options.openSocket(connectTimeoutMs), target));
      // Moved to the end: the map's order is the order of last use.
      pools.delete(key);
      pools.set(key, pool);
      evictOldest(pools);
      return pool;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

function evictOldest(pools: Map<string, Pool>): void {
  const [oldest] = pools;
  if (pools.size <= POOLS_MAX || !oldest) return;
  pools.delete(oldest[0]);
  void oldest[1].close();
}

function createPool(url: URL, connect: buildConnector.connector): Pool {
  return new Pool(url.origin, {
    connect,
    allowH2: false,
    pipelining: 1,
    // The exchange's own deadline ends a request; idle timers would let a drip go on for ever.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: HEADER_BYTES_MAX,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_TIMEOUT_MS_MAX,
  });
}

/**
 * Replaces only what the socket is opened to. `host` and `servername` stay those of the URL, so certificates
 * are checked against the merchant's name; no look-up happens, because the address is a literal.
 */
function pinned(open: buildConnector.connector, target: DialTarget): buildConnector.connector {
  return (options, callback) => {
    const dial = { ...options, hostname: target.address, port: String(target.port) };
    open(dial, (...outcome) => {
      const [error, socket] = outcome;
      if (error === null) callback(null, socket);
      else callback(connectFailure(error), null);
    });
  };
}
