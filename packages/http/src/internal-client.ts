import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { CallerClaims, ServiceName } from '@pixmesh/contracts/internal/service-token';
import { AppError } from '@pixmesh/kernel/app-error';
import { currentRequestId } from '@pixmesh/telemetry/request-id';
import { type Dispatcher, Pool } from 'undici';

import type { Deadline } from './deadline.ts';
import type { SignToken } from './service-token.ts';

const CONNECTIONS_MAX = 128;
const CONNECT_TIMEOUT_MS = 1_000;
/** Below the peer's own keep-alive, so that a socket is never reused while the peer closes it. */
const KEEP_ALIVE_TIMEOUT_MS = 30_000;
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
  /** @throws AppError `DEPENDENCY_UNAVAILABLE` when no answer came in time: the outcome is unknown */
  request(request: InternalRequest): Promise<InternalAnswer>;
};

/** Calls one service of the mesh: signed, under the caller's deadline, never retried on its own. */
export function createInternalClient(options: {
  service: ServiceName;
  url: string;
  sign: SignToken;
}): InternalClient {
  const pool = new Pool(options.url, {
    connections: CONNECTIONS_MAX,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  return { request, [Symbol.asyncDispose]: () => pool.destroy() };

  async function request(call: InternalRequest): Promise<InternalAnswer> {
    const token = await options.sign(options.service, call.claims);
    const timeoutMs = Math.max(1, call.deadline.remainingMs() - HOP_MARGIN_MS);
    const requestId = currentRequestId();
    try {
      const response = await pool.request({
        method: call.method,
        path: call.path,
        headers: {
          ...call.headers,
          [INTERNAL_HEADERS.token]: token,
          [INTERNAL_HEADERS.timeoutMs]: String(timeoutMs),
          ...(requestId === null ? {} : { [INTERNAL_HEADERS.requestId]: requestId }),
        },
        body: call.body ?? null,
        signal: call.deadline.signal(),
      });
      const body = Buffer.from(await response.body.arrayBuffer());
      return { status: response.statusCode, headers: response.headers, body };
    } catch (error) {
      throw new AppError('DEPENDENCY_UNAVAILABLE', {
        message: `${options.service} did not answer`,
        cause: error,
      });
    }
  }
}
