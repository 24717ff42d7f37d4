import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';

import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';

import { isPlainRequest } from '#api-pix/plain-request.ts';
import { type ProviderAnswer, sendAnswer, toProviderError } from '#api-pix/provider-answer.ts';
import { apiPixError } from '#api-pix/provider-error.ts';

import { errorOf, GARBAGE, refusalOf } from './fault-answers.ts';
import type { CallRule, FaultyOperation } from './fault-script.ts';
import type { Faults } from './faults.ts';
import { readNames } from './subject.ts';

/** A hang without a delay: longer than any client waits. */
const HANG_MS_DEFAULT = 600_000;

type Handler = (request: FastifyRequest) => Promise<ProviderAnswer>;

/** Adds an operation of the provider. One of null has no word in scripts. */
type AddOperation = (path: string, operation: FaultyOperation | null, handler: Handler) => void;

/** The provider's routes, all of which obey the fault script. */
export type Provider = Record<'get' | 'put' | 'post' | 'patch' | 'delete', AddOperation> & {
  /** Calls back at every refusal of an operation, by rule or by the provider's own checks. */
  onRefused(operation: FaultyOperation, note: (request: FastifyRequest) => Promise<void>): void;
};

type Deps = {
  faults: Faults;
  logger: Logger;
  /** Ends every answer that a fault holds back. */
  stopping: AbortSignal;
};

/** @param app whose prefix every path begins with */
export function createProvider(app: FastifyInstance, deps: Deps): Provider {
  const below = (path: string): string => path.slice(app.prefix.length);
  const notes = new Map<FaultyOperation | null, (request: FastifyRequest) => Promise<void>>();
  return {
    get: (path, ...route) => void app.get(below(path), obey(...route)),
    put: (path, ...route) => void app.put(below(path), obey(...route)),
    post: (path, ...route) => void app.post(below(path), obey(...route)),
    patch: (path, ...route) => void app.patch(below(path), obey(...route)),
    delete: (path, ...route) => void app.delete(below(path), obey(...route)),
    onRefused: (operation, note) => void notes.set(operation, note),
  };

  function obey(operation: FaultyOperation | null, handler: Handler): RouteHandlerMethod {
    return async (request, reply) => {
      // Before a rule is drawn: its filters look names up in the database.
      if (!isPlainRequest(request)) return sendAnswer(reply, await run(refuseCharacters, request));
      const { latencyMs, rule } =
        operation === null
          ? { latencyMs: 0, rule: null }
          : await deps.faults.pick(operation, () => readNames(operation, request));
      if (rule?.fault === 'hang' || rule?.fault === 'reset') {
        return await withholdAnswer(reply, rule, deps.stopping);
      }
      const outcome = (await failBefore(rule, request)) ?? (await run(handler, request));
      const waitMs = latencyMs + (rule?.delay_ms ?? 0);
      if (waitMs > 0)
        await delay(waitMs, undefined, { signal: deps.stopping }).catch(() => undefined);
      return answer(reply, rule, outcome);
    };

    /** What a rule says instead of doing what was asked. */
    async function failBefore(
      rule: CallRule | null,
      request: FastifyRequest,
    ): Promise<ProviderAnswer | null> {
      if (rule?.fault === 'error_before') return errorOf(rule);
      if (rule?.fault !== 'refusal') return null;
      await notes.get(operation)?.(request);
      return refusalOf(rule);
    }

    async function run(handle: Handler, request: FastifyRequest): Promise<ProviderAnswer> {
      try {
        return await handle(request);
      } catch (thrown) {
        const error = toProviderError(thrown);
        if (error.status >= 500) deps.logger.error({ err: thrown, operation }, 'operation failed');
        if (error.status === 400 || error.status === 422) await notes.get(operation)?.(request);
        return error;
      }
    }
  }
}

async function refuseCharacters(): Promise<never> {
  const detail = 'A requisição contém caracteres de controle.';
  throw apiPixError('RequisicaoInvalida', 400, { detail });
}

function answer(reply: FastifyReply, rule: CallRule | null, outcome: ProviderAnswer): FastifyReply {
  if (rule?.fault === 'error_after') return sendAnswer(reply, errorOf(rule));
  if (rule?.fault === 'garbage') {
    return reply
      .code(rule.status ?? 200)
      .type('text/html; charset=utf-8')
      .send(GARBAGE);
  }
  return sendAnswer(reply, outcome);
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
