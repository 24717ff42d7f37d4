import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Dispatcher } from 'undici';

import { AttemptFailure, type FailureReason, toAttemptFailure } from './attempt-failure.ts';
import { chooseTargets, parseTargetUrl, type TargetDeps } from './choose-targets.ts';
import {
  type ConnectionPools,
  createConnectionPools,
  type OpenSocket,
  openVerifiedSocket,
} from './connection-pools.ts';
import type { DialTarget } from './dial-target.ts';
import { readExcerpt } from './read-excerpt.ts';

type ExchangeRequest = {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
};

export type ExchangeResult = {
  outcome: 'succeeded' | 'failed';
  /** Null when it succeeded. */
  reason: FailureReason | null;
  status: number | null;
  error: string | null;
  responseExcerpt: string | null;
  /** The address that was dialled last; null when nothing was. */
  address: string | null;
  durationMs: number;
};

export type Exchange = AsyncDisposable & {
  /** Makes at most one request and never rejects: whatever happens is a result. */
  post(request: ExchangeRequest): Promise<ExchangeResult>;
};

type ExchangeDeps = TargetDeps & { timeoutMs: number; openSocket?: OpenSocket };
type Answer = Pick<ExchangeResult, 'status' | 'responseExcerpt'>;

/**
 * One POST to a merchant. A single deadline covers look-up, connect, TLS, head and body; a complete 2xx head
 * within it is success, whatever the body does then (decision 198).
 */
export function createExchange(deps: ExchangeDeps): Exchange {
  const pools = createConnectionPools({
    connectTimeoutMs: deps.timeoutMs,
    openSocket: deps.openSocket ?? openVerifiedSocket,
  });
  return { post, [Symbol.asyncDispose]: () => pools[Symbol.asyncDispose]() };

  async function post(request: ExchangeRequest): Promise<ExchangeResult> {
    const startedMs = performance.now();
    const deadline = startDeadline(deps.timeoutMs);
    const dialled: DialTarget[] = [];
    try {
      const answer = await attempt({ ...deps, pools, signal: deadline.signal, dialled }, request);
      return toResult(answer, null);
    } catch (error) {
      return toResult({ status: null, responseExcerpt: null }, toAttemptFailure(error));
    } finally {
      deadline.clear();
    }

    function toResult(answer: Answer, failure: AttemptFailure | null): ExchangeResult {
      const cause = failure ?? statusFailure(answer.status);
      return {
        ...answer,
        outcome: cause === null ? 'succeeded' : 'failed',
        reason: cause?.reason ?? null,
        error: cause === null ? null : `${cause.reason}: ${cause.message}`,
        address: dialled.at(-1)?.address ?? null,
        durationMs: Math.round(performance.now() - startedMs),
      };
    }
  }
}

type AttemptDeps = TargetDeps & {
  pools: ConnectionPools;
  signal: AbortSignal;
  /** Filled with every target that was dialled. */
  dialled: DialTarget[];
};

/** Goes on to a name's next address only while no connection was made: nothing is ever sent twice. */
async function attempt(deps: AttemptDeps, request: ExchangeRequest): Promise<Answer> {
  const url = parseTargetUrl(request.url);
  const targets = await within(deps.signal, chooseTargets(deps, url));
  for (const [index, target] of targets.entries()) {
    const hasFallback = index + 1 < targets.length;
    deps.dialled.push(target);
    try {
      const pool = deps.pools.poolFor(url, target, targets.length > 1);
      return await send(pool, { ...request, url, signal: deps.signal });
    } catch (error) {
      if (!hasFallback || !isConnectFailure(error)) throw error;
    }
  }
  throw new AttemptFailure('dns_failed', 'no address');
}

/**
 * Sent outside the active trace: a merchant gets no header of our tracing, and the span of the delivery
 * stands for the request.
 */
async function send(
  pool: Dispatcher,
  request: Omit<ExchangeRequest, 'url'> & { url: URL; signal: AbortSignal },
): Promise<Answer> {
  const asked = context.with(ROOT_CONTEXT, () =>
    pool.request({
      method: 'POST',
      path: `${request.url.pathname}${request.url.search}`,
      origin: request.url.origin,
      headers: request.headers,
      body: request.body,
      signal: request.signal,
    }),
  );
  // The client notices an abort only once it is connected; it then drops the request unsent.
  const response = await within(request.signal, asked);
  return { status: response.statusCode, responseExcerpt: await readExcerpt(response.body) };
}

function statusFailure(status: number | null): AttemptFailure | null {
  if (status !== null && status >= 200 && status <= 299) return null;
  return new AttemptFailure('status', `answered ${status}`);
}

function isConnectFailure(error: unknown): boolean {
  return error instanceof AttemptFailure && ['connect_failed', 'tls_failed'].includes(error.reason);
}

/** Look-ups and connects cannot be cancelled; they are left behind, and end by their own limits. */
async function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function startDeadline(ms: number): { signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new AttemptFailure('timeout', `no complete answer head within ${ms} ms`));
  }, ms);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
