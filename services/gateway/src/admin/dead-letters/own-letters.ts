import { type DeadLetterDeps, registerDeadLetterRoutes } from '@pixmesh/http/dead-letter-routes';
import { createServiceApp } from '@pixmesh/http/service-app';
import type { Logger } from '@pixmesh/telemetry/logger';

import { type ForwardableAnswer, requireForwardable } from '#forwarding/forwardable-answer.ts';

import type { OwnerCall } from '../owners/call-owner.ts';

export type AskOwnLetters = (call: OwnerCall) => Promise<ForwardableAnswer>;

/** The gateway's own parked events, asked for by the routes that other services have, without a socket between. */
export function answerOwnLetters(letters: DeadLetterDeps, logger: Logger): AskOwnLetters {
  const app = createServiceApp({ logger, listener: 'own-letters' });
  registerDeadLetterRoutes(app, letters);
  return async ({ method, path, body }) => {
    const answer = await app.inject({ method, url: path, ...(body && { payload: body }) });
    const { statusCode: status, rawPayload } = answer;
    const headers = { ...answer.headers } as Record<string, string>;
    return requireForwardable('gateway', { status, headers, body: rawPayload });
  };
}
