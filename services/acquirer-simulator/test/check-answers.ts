import { subscribe, unsubscribe } from 'node:diagnostics_channel';

import { checkExchange } from '@pixmesh/acquirer/testing/check-exchange';
import { rawBody } from '@pixmesh/http/service-app';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** What the framework publishes for each of its instances, before anything is added to it. */
const CHANNEL = 'fastify.initialization';
const PROVIDER = /^\/(oauth|v\d+)(\/|$)/;
const FAULTS = '/control/faults';

export type AnswerCheck = {
  /** Leaves applications alone that are built from now on. */
  stopHooking(): void;
  /** @throws Error that names every answer that deviated */
  rejectDeviations(): void;
};

/** Checks every answer of the provider's listeners that are built from now on, whatever route it comes from. */
export function checkAnswers(): AnswerCheck {
  const deviations = new Set<string>();
  let mayBeFault = false;
  const onApp = (message: unknown): void => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onSend', async (request, reply, payload) => check(request, reply, payload));
  };
  subscribe(CHANNEL, onApp);
  return {
    stopHooking: () => void unsubscribe(CHANNEL, onApp),
    rejectDeviations: () => {
      if (deviations.size > 0) throw new Error(`deviations:\n${[...deviations].join('\n')}`);
    },
  };

  function check(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
    const { url, method } = request;
    // A rule may choose any status and name, and one that has fired may still hold an answer back.
    if (url.startsWith(FAULTS) && method !== 'GET') mayBeFault = true;
    if (!PROVIDER.test(url)) return;
    const answer = {
      status: reply.statusCode,
      contentType: String(reply.getHeader('content-type') ?? ''),
      body: typeof payload === 'string' ? payload : '',
      mayBeFault,
    };
    const found = checkExchange({ method, url, body: rawBody(request.body).toString() }, answer);
    for (const deviation of found) deviations.add(deviation);
  }
}
