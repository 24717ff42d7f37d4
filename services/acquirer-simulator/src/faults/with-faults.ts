import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';

import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';

import {
  type ProviderAnswer,
  sendAnswer,
  sendProviderError,
  toProviderError,
} from '#api-pix/provider-answer.ts';
import type { ProviderError } from '#api-pix/provider-error.ts';

import { errorOf, GARBAGE, refusalOf } from './fault-answers.ts';
import type { CallRule, FaultyOperation } from './fault-script.ts';
import type { Faults } from './faults.ts';
import { readNames } from './subject.ts';

/** A hang without a delay: longer than any client waits. */
const HANG_MS_DEFAULT = 600_000;

type Handler = (request: FastifyRequest) => Promise<ProviderAnswer>;

/**
 * Turns a provider's operation into a route that obeys the fault script. `onRefused` is called for every refusal,
 * by rule or by the provider's own checks. An operation of null has no word in scripts.
 */
export type WithFaults = (
  operation: FaultyOperation | null,
  handler: Handler,
  onRefused?: (request: FastifyRequest) => Promise<void>,
) => RouteHandlerMethod;

type Deps = {
  faults: Faults;
  logger: Logger;
  /** Ends every answer that a fault holds back. */
  stopping: AbortSignal;
};

type Outcome = { kind: 'answer'; answer: ProviderAnswer } | { kind: 'error'; error: ProviderError };

export function createWithFaults(deps: Deps): WithFaults {
  return (operation, handler, onRefused) => async (request, reply) => {
    const { latencyMs, rule } =
      operation === null
        ? { latencyMs: 0, rule: null }
        : await deps.faults.pick(operation, () => readNames(operation, request));
    if (rule?.fault === 'hang' || rule?.fault === 'reset') {
      return await withholdAnswer(reply, rule, deps.stopping);
    }
    const outcome =
      rule?.fault === 'refusal' || rule?.fault === 'error_before'
        ? { kind: 'error' as const, error: await withoutEffect(rule, request) }
        : await run(request);
    const waitMs = latencyMs + (rule?.delay_ms ?? 0);
    if (waitMs > 0)
      await delay(waitMs, undefined, { signal: deps.stopping }).catch(() => undefined);
    return answer(reply, rule, outcome);

    async function withoutEffect(rule: CallRule, request: FastifyRequest): Promise<ProviderError> {
      if (rule.fault === 'error_before') return errorOf(rule);
      await onRefused?.(request);
      return refusalOf(rule);
    }

    async function run(request: FastifyRequest): Promise<Outcome> {
      try {
        return { kind: 'answer', answer: await handler(request) };
      } catch (thrown) {
        const error = toProviderError(thrown);
        if (error.status >= 500) deps.logger.error({ err: thrown, operation }, 'operation failed');
        if (error.status === 400 || error.status === 422) await onRefused?.(request);
        return { kind: 'error', error };
      }
    }
  };
}

function answer(reply: FastifyReply, rule: CallRule | null, outcome: Outcome): FastifyReply {
  if (rule?.fault === 'error_after') return sendProviderError(reply, errorOf(rule));
  if (rule?.fault === 'garbage') {
    return reply
      .code(rule.status ?? 200)
      .type('text/html; charset=utf-8')
      .send(GARBAGE);
  }
  if (outcome.kind === 'error') return sendProviderError(reply, outcome.error);
  return sendAnswer(reply, outcome.answer);
}

/** A TLS socket cannot be reset: it ends without a farewell, which its client takes for the same. */
function endConnection(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** No answer: the connection is reset, for a hang only after its delay or when the process stops. */
async function withholdAnswer(
  reply: FastifyReply,
  rule: CallRule,
  stopping: AbortSignal,
): Promise<FastifyReply> {
  reply.hijack();
  const { socket } = reply.raw.req;
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  const signal = AbortSignal.any([stopping, gone.signal]);
  const waitMs = rule.delay_ms ?? (rule.fault === 'hang' ? HANG_MS_DEFAULT : 0);
  if (waitMs > 0) await delay(waitMs, undefined, { signal }).catch(() => undefined);
  endConnection(socket);
  return reply;
}
