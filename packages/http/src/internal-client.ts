import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { CallerClaims, ServiceName } from '@pixmesh/contracts/internal/service-token';
import { currentAccount } from '@pixmesh/fair-share/current-account';
import { createFairQueue, type FairQueue, WAITING_MAX } from '@pixmesh/fair-share/fair-queue';
import { NoTurnError } from '@pixmesh/fair-share/no-turn-error';
import { AppError } from '@pixmesh/kernel/app-error';
import { currentRequestId } from '@pixmesh/telemetry/request-id';
import { type Dispatcher, Pool } from 'undici';

import type { Deadline } from './deadline.ts';
import { mayRepeat, TRIES_MAX } from './repeat-call.ts';
import type { SignToken } from './service-token.ts';

/**
 * Calls under way at once, each with a connection of its own. A write may wait for the acquirer, which costs nobody
 * anything; what a read waits for is the CPU of its service, where many at once would only be a longer line (ADR 0023).
 */
const WRITES_MAX = 512;
const READS_MAX = 64;
const CONNECT_TIMEOUT_MS = 1_000;
/** An idle connection has ended before a process that stops ends it (`end-connections.ts`), whatever the peer allows. */
const KEEP_ALIVE_TIMEOUT_MS = 1_000;
/** More than any answer of a peer, a page of a hundred items included. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
/** Time kept back so that a callee answers before its caller gives up. */
const HOP_MARGIN_MS = 100;

export type InternalRequest = {
  method: Dispatcher.HttpMethod;
  path: string;
  claims: CallerClaims | null;
  deadline: Deadline;
  headers?: Record<string, string>;
  body?: Uint8Array;
};

export type InternalAnswer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
};

export type InternalClient = AsyncDisposable & {
  /**
   * @throws AppError `DEPENDENCY_UNAVAILABLE` when no answer came in time: the outcome is unknown, unless its cause is a
   *   `NoTurnError`, after which nothing was sent
   */
  request(request: InternalRequest): Promise<InternalAnswer>;
};

/**
 * Calls one service of the mesh in equal turns by account, reads apart from writes: signed, under the caller's deadline,
 * repeated only where that is safe.
 */
export function createInternalClient(options: {
  service: ServiceName;
  url: string;
  sign: SignToken;
}): InternalClient {
  const { service, url } = options;
  const reads = openConnections(`${service} reads`, url, READS_MAX);
  const writes = openConnections(`${service} writes`, url, WRITES_MAX);
  return {
    request,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([reads.pool.destroy(), writes.pool.destroy()]);
    },
  };

  async function request(call: InternalRequest): Promise<InternalAnswer> {
    const { pool, turns } = call.method === 'GET' ? reads : writes;
    const account = call.claims?.account_id ?? currentAccount();
    const beginBeforeMs = performance.now() + call.deadline.remainingMs();
    try {
      return await turns.run(account, () => send(pool, call), { beginBeforeMs });
    } catch (cause) {
      if (!(cause instanceof NoTurnError)) throw cause;
      const message = `${service} was not called: ${cause.message}`;
      throw new AppError('DEPENDENCY_UNAVAILABLE', { message, cause });
    }
  }

  async function send(pool: Pool, call: InternalRequest): Promise<InternalAnswer> {
    const token = await options.sign(options.service, call.claims);
    const timeoutMs = Math.max(1, call.deadline.remainingMs() - HOP_MARGIN_MS);
    const requestId = currentRequestId();
    const headers = {
      ...call.headers,
      [INTERNAL_HEADERS.token]: token,
      [INTERNAL_HEADERS.timeoutMs]: String(timeoutMs),
      ...(requestId === null ? {} : { [INTERNAL_HEADERS.requestId]: requestId }),
    };
    for (let tries = 1; ; tries += 1) {
      try {
        return await exchange(pool, call, headers);
      } catch (error) {
        if (tries < TRIES_MAX && mayRepeat(call.method, error)) continue;
        throw new AppError('DEPENDENCY_UNAVAILABLE', {
          message: `${options.service} did not answer`,
          cause: error,
        });
      }
    }
  }
}

async function exchange(
  pool: Pool,
  call: InternalRequest,
  headers: Record<string, string>,
): Promise<InternalAnswer> {
  const response = await pool.request({
    method: call.method,
    path: call.path,
    headers,
    body: call.body ?? null,
    signal: call.deadline.signal(),
  });
  const body = Buffer.from(await response.body.arrayBuffer());
  return { status: response.statusCode, headers: response.headers, body };
}

/** As many connections as places, so that nothing waits in the pool, where nobody has turns. */
function openConnections(
  name: string,
  url: string,
  places: number,
): { pool: Pool; turns: FairQueue } {
  const pool = new Pool(url, {
    connections: places,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  // Each call waits until its own deadline.
  const bounds = { waitingMax: WAITING_MAX, waitMsMax: Number.POSITIVE_INFINITY };
  return { pool, turns: createFairQueue({ name, places, ...bounds }) };
}
