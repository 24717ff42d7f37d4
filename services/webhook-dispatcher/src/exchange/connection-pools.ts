import { buildConnector, Pool } from 'undici';

import { connectFailure } from './attempt-failure.ts';
import { boundAnswers } from './bounded-answers.ts';
import type { DialTarget } from './dial-target.ts';

/**
 * Receivers with an open pool; the one used longest ago makes room. Far more than are sent to within one
 * keep-alive time, because a bound just below that number would evict every pool right before its next use;
 * 50 KB each (measured). Sockets per pool are bounded by the requests in flight: a bound of its own would let
 * one account's hanging receiver delay another's at the same host.
 */
const POOLS_MAX = 2_000;
/** Heads above this are a failure. */
const HEADER_BYTES_MAX = 16 * 1024;
/** Shorter than what servers allow, so that a socket is rarely reused while its peer closes it. */
const KEEP_ALIVE_TIMEOUT_MS = 4_000;
const KEEP_ALIVE_TIMEOUT_MS_MAX = 30_000;
/**
 * How much sooner than a server announces a socket counts as gone. A request that meets a closing socket is a
 * failed attempt, which costs a minute: far more than a new connection does.
 */
const KEEP_ALIVE_MARGIN_MS = 2_000;
/** A name with several addresses must not spend its whole deadline on one that does not answer. */
const CONNECT_TIMEOUT_MS_OF_SEVERAL = 3_000;

/** Opens a socket to `hostname` and `port`; tests put their own in its place to see what is dialled. */
export type OpenSocket = (timeoutMs: number) => buildConnector.connector;

type PoolsOptions = { connectTimeoutMs: number; openSocket: OpenSocket; poolsMax?: number };

export const openVerifiedSocket: OpenSocket = (timeout) =>
  buildConnector({
    timeout,
    allowH2: false,
    // Both explicit, because the process's options and environment can lower the defaults.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  });

export type ConnectionPools = AsyncDisposable & {
  /** A pool whose sockets lead to exactly this address, under the name, Host and SNI of the URL. */
  poolFor(url: URL, target: DialTarget, isOneOfSeveral: boolean): Pool;
  /**
   * The same targets, those with an open socket first: name servers shuffle the addresses of a name, and a
   * socket to any one that has been checked just now is as good as a new one to the first.
   */
  connectedFirst(url: URL, targets: readonly DialTarget[]): readonly DialTarget[];
  count(): number;
};

/**
 * Kept-alive sockets, keyed by name and checked address together: a socket is reused only for an attempt
 * that has checked the very address it leads to (decision 165). No HTTP/2, no proxy from
 * the environment, TLS always verified, redirects never followed.
 */
export function createConnectionPools(options: PoolsOptions): ConnectionPools {
  const pools = new Map<string, Pool>();
  return {
    poolFor: (url, target, isOneOfSeveral) => {
      const connectTimeoutMs = connectTimeoutMsFor(isOneOfSeveral);
      const key = keyOf(url, target, connectTimeoutMs);
      const pool =
        pools.get(key) ?? openPool(key, url, pinned(options.openSocket(connectTimeoutMs), target));
      // Moved to the end: the map's order is the order of last use.
      pools.delete(key);
      pools.set(key, pool);
      if (pools.size > (options.poolsMax ?? POOLS_MAX)) evictOldest(pools);
      return pool;
    },
    connectedFirst: (url, targets) => {
      if (targets.length === 1) return targets;
      const connectTimeoutMs = connectTimeoutMsFor(true);
      const isConnected = (target: DialTarget): boolean =>
        (pools.get(keyOf(url, target, connectTimeoutMs))?.stats.connected ?? 0) > 0;
      const connected = new Set(targets.filter(isConnected));
      return [...connected, ...targets.filter((target) => !connected.has(target))];
    },
    count: () => pools.size,
    [Symbol.asyncDispose]: async () => {
      const open = [...pools.values()];
      // First, so that no pool is closed twice as its sockets close.
      pools.clear();
      await Promise.all(open.map((pool) => pool.destroy()));
    },
  };

  function openPool(key: string, url: URL, connect: buildConnector.connector): Pool {
    const pool = createPool(url, connect);
    // After the client has handled the event: only then the pool counts a request that waits.
    const check = (): void => queueMicrotask(() => closeIfIdle(key, pool));
    return pool.on('disconnect', check).on('connectionError', check);
  }

  /** Most receivers get nothing for hours; a pool without sockets is of no use to them. */
  function closeIfIdle(key: string, pool: Pool): void {
    const { connected, size } = pool.stats;
    if (pools.get(key) !== pool || connected + size > 0) return;
    pools.delete(key);
    void pool.close();
  }

  function connectTimeoutMsFor(isOneOfSeveral: boolean): number {
    return isOneOfSeveral
      ? Math.min(CONNECT_TIMEOUT_MS_OF_SEVERAL, options.connectTimeoutMs)
      : options.connectTimeoutMs;
  }
}

function keyOf(url: URL, target: DialTarget, connectTimeoutMs: number): string {
  return `${url.origin} ${target.address} ${target.port} ${connectTimeoutMs}`;
}

/** Closes its idle sockets at once, and the others after their answers. */
function evictOldest(pools: Map<string, Pool>): void {
  const [oldest] = pools;
  if (!oldest) return;
  pools.delete(oldest[0]);
  void oldest[1].close();
}

function createPool(url: URL, connect: buildConnector.connector): Pool {
  return new Pool(url.origin, {
    connect,
    allowH2: false,
    pipelining: 1,
    // The exchange's own deadline ends a request: one that sends a byte at a time is never idle.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: HEADER_BYTES_MAX,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_TIMEOUT_MS_MAX,
    keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
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
      if (error !== null) return callback(connectFailure(error), null);
      boundAnswers(socket);
      callback(null, socket);
    });
  };
}
