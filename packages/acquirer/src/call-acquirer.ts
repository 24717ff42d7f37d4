import { assertNever } from '@pixmesh/kernel/app-error';
import type { Dispatcher, Pool } from 'undici';

import type { TokenSource } from './access-token.ts';
import type { CallOptions, Refused, Unknown } from './acquirer.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { accountOf, createCallsInTurn } from './calls-in-turn.ts';
import type { Proof } from './circuit.ts';
import { exchange } from './exchange.ts';
import { observeBreakers, observeCall } from './observe-call.ts';
import { withinLimit } from './within-limit.ts';
import { decideOutcome, type Operation } from './outcome-rules.ts';
import { readProblem } from './read-answer.ts';
import {
  givenUp,
  hasCallerGivenUp,
  isOutage,
  withBreakerOpen,
  withoutToken,
} from './unknown-causes.ts';

/** What a call proved: `done` carries the body still to be read, `unknown` a word on why. */
export type CallResult =
  | { kind: 'done'; body: unknown }
  | Refused
  | { kind: 'not_found' }
  | Unknown;

/** An answer that says "done" but cannot be read proves nothing. */
export const UNREADABLE = { kind: 'unknown', cause: 'unreadable' } as const;

/** One that offers a code by which something else than the charge would be paid (ADR 0019) proves nothing either. */
export const FOREIGN_CODE = { kind: 'unknown', cause: 'foreign_code' } as const;

export type AcquirerCall = {
  operation: Operation;
  method: Dispatcher.HttpMethod;
  path: string;
  body?: object;
  headers?: Record<string, string>;
  /** Bound of the answer where the usual one is too narrow. */
  answerBytesMax?: number;
  options: CallOptions | undefined;
};

export type CallAcquirer = (call: AcquirerCall) => Promise<CallResult>;

/** A read is repeated once with a new token; whatever may have an effect is left to its caller. */
const READ_TRIES_MAX = 2;

/** Part of the deadline after which one call tries a provider again that did not answer. */
const PROBE_AFTER_SHARE = 0.5;

/**
 * Calls in equal turns by account, with a token, the whole of it (token, request, body) under one deadline that begins
 * when the call has its place: neither the breaker nor a measurement of the provider sees time in our own queue, or in
 * which this process had no turn. Each operation has a breaker of its own: a provider whose lists are down still issues
 * and pays, and calls for what is down must not keep others away. Nor must those of one account, which alone may fail
 * (ADR 0048).
 */
export function createCallAcquirer(deps: {
  pool: Pool;
  tokens: TokenSource;
  timeoutMs: number;
}): CallAcquirer {
  const breakers = new Map<Operation, Breaker<CallResult>>();
  const inTurn = createCallsInTurn();
  observeBreakers(breakers);
  return async (call) => await inTurn(call.options, () => callInTurn(call));

  async function callInTurn(call: AcquirerCall): Promise<CallResult> {
    return await observeCall(call.operation, async () => {
      const breaker = breakerOf(call.operation);
      const attempt = await breaker.run(accountOf(call.options), () => callInTime(call));
      if (attempt.kind === 'ran') return attempt.value;
      const { failure } = attempt;
      return withBreakerOpen(failure.kind === 'unknown' ? failure.cause : failure.kind);
    });
  }

  function breakerOf(operation: Operation): Breaker<CallResult> {
    const known = breakers.get(operation);
    if (known !== undefined) return known;
    const breaker = createBreaker<CallResult>({
      proofOf,
      now: () => performance.now(),
      probeAfterMs: deps.timeoutMs * PROBE_AFTER_SHARE,
    });
    breakers.set(operation, breaker);
    return breaker;
  }

  async function callInTime(call: AcquirerCall): Promise<CallResult> {
    return await withinLimit(deps.timeoutMs, async (limit) => {
      const caller = call.options?.signal;
      const signal = caller ? AbortSignal.any([limit, caller]) : limit;
      const result = await callWithin(deps, signal, call);
      const hasGivenUp = caller?.aborted === true && !limit.aborted;
      return hasGivenUp && result.kind === 'unknown' ? givenUp(result) : result;
    });
  }
}

/** What a call says of the provider. */
function proofOf(result: CallResult): Proof {
  if (result.kind !== 'unknown') return 'reachable';
  if (hasCallerGivenUp(result.cause)) return 'unknown';
  return isOutage(result.cause) ? 'unreachable' : 'reachable';
}

/** The token, the request and its whole answer. */
async function callWithin(
  deps: { pool: Pool; tokens: TokenSource },
  signal: AbortSignal,
  call: AcquirerCall,
): Promise<CallResult> {
  const triesMax = call.method === 'GET' ? READ_TRIES_MAX : 1;
  for (let tries = 1; ; tries += 1) {
    const token = await deps.tokens.get(signal);
    if (token.kind === 'none') return withoutToken(token.cause);
    const answer = await exchange(deps.pool, {
      method: call.method,
      path: call.path,
      headers: { ...call.headers, ...bodyHeaders(call), authorization: `Bearer ${token.value}` },
      ...(call.body && { body: call.body }),
      ...(call.answerBytesMax && { answerBytesMax: call.answerBytesMax }),
      signal,
    });
    if (answer.kind === 'no_answer') return { kind: 'unknown', cause: answer.cause };
    if (answer.status === 401) deps.tokens.drop(token.value);
    if (answer.status !== 401 || tries === triesMax) {
      return readOutcome(call.operation, answer.status, answer.body);
    }
  }
}

function readOutcome(operation: Operation, status: number, body: unknown): CallResult {
  const problem = status >= 400 ? readProblem(body) : null;
  const verdict = decideOutcome(operation, status, problem?.code ?? null);
  switch (verdict) {
    case 'done':
      return { kind: 'done', body };
    case 'not_found':
      return { kind: 'not_found' };
    case 'refused':
      return { kind: 'refused', code: problem?.code ?? '', message: problem?.message ?? '' };
    case 'unknown':
      return { kind: 'unknown', cause: isDuplicate(problem) ? 'duplicate' : `status_${status}` };
    default:
      return assertNever(verdict);
  }
}

/** Names for an id that is taken: an earlier call of ours arrived. */
const DUPLICATES = new Set(['id_envio_duplicado', 'devolucao_id_duplicado']);

function isDuplicate(problem: { code: string } | null): boolean {
  return problem !== null && DUPLICATES.has(problem.code);
}

function bodyHeaders(call: AcquirerCall): Record<string, string> {
  return call.body === undefined ? {} : { 'content-type': 'application/json' };
}
