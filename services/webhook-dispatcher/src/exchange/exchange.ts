import { AttemptFailure, type FailureReason, toAttemptFailure } from './attempt-failure.ts';
import { chooseTargets, parseTargetUrl, type TargetDeps } from './choose-targets.ts';
import {
  type ConnectionPools,
  createConnectionPools,
  type OpenSocket,
  openVerifiedSocket,
} from './connection-pools.ts';
import { type Deadline, startDeadline, within } from './deadline.ts';
import type { DialTarget } from './dial-target.ts';
import { type Answer, sendRequest } from './send-request.ts';

/** How many addresses of one name are dialled, one after another, within the attempt's deadline. */
const TARGETS_MAX = 3;

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
      return toResult(await attempt({ ...deps, pools, deadline, dialled }, request), null);
    } catch (error) {
      return toResult(null, toAttemptFailure(error));
    } finally {
      deadline.clear();
    }

    function toResult(answer: Answer | null, failure: AttemptFailure | null): ExchangeResult {
      const cause = failure ?? statusFailure(answer?.status ?? null);
      return {
        outcome: cause === null ? 'succeeded' : 'failed',
        reason: cause?.reason ?? null,
        status: answer?.status ?? null,
        error: cause === null ? null : `${cause.reason}: ${cause.message}`,
        responseExcerpt: answer?.responseExcerpt ?? null,
        address: dialled.at(-1)?.address ?? null,
        durationMs: Math.round(performance.now() - startedMs),
      };
    }
  }
}

type AttemptDeps = TargetDeps & {
  pools: ConnectionPools;
  deadline: Deadline;
  /** Filled with every target that was dialled. */
  dialled: DialTarget[];
};

/** Goes on to a name's next address only while no connection was made: nothing is ever sent twice. */
async function attempt(deps: AttemptDeps, request: ExchangeRequest): Promise<Answer> {
  const url = parseTargetUrl(request.url);
  const checked = await within(deps.deadline, chooseTargets(deps, url));
  const targets = deps.pools.connectedFirst(url, checked).slice(0, TARGETS_MAX);
  for (const [index, target] of targets.entries()) {
    const hasFallback = index + 1 < targets.length;
    deps.dialled.push(target);
    try {
      const pool = deps.pools.poolFor(url, target, targets.length > 1);
      return await sendRequest(pool, { ...request, url }, deps.deadline);
    } catch (error) {
      if (!hasFallback || !isConnectFailure(error)) throw error;
    }
  }
  throw new AttemptFailure('dns_failed', 'no address');
}

function statusFailure(status: number | null): AttemptFailure | null {
  if (status !== null && status >= 200 && status <= 299) return null;
  return new AttemptFailure('status', `answered ${status}`);
}

function isConnectFailure(error: unknown): boolean {
  return error instanceof AttemptFailure && ['connect_failed', 'tls_failed'].includes(error.reason);
}
