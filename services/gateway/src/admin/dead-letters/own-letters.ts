import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { SHARED_ROUTES } from '@pixmesh/contracts/internal/internal-routes';
import { encodeClaims } from '@pixmesh/contracts/internal/claims-header';
import { guardRoutes } from '@pixmesh/http/internal-auth';
import { type DeadLetterDeps, registerDeadLetterRoutes } from '@pixmesh/http/dead-letter-routes';
import { createServiceApp } from '@pixmesh/http/service-app';
import type { Logger } from '@pixmesh/telemetry/logger';
import { withSpan } from '@pixmesh/telemetry/tracing';

import { type ForwardableAnswer, requireForwardable } from '#forwarding/forwardable-answer.ts';

import { operatorClaimsOf, type OwnerCall } from '../owners/call-owner.ts';

export type AskOwnLetters = (call: OwnerCall) => Promise<ForwardableAnswer>;

/** The gateway's own parked events, asked for by the routes that other services have, without a socket between. */
export function answerOwnLetters(letters: DeadLetterDeps, logger: Logger): AskOwnLetters {
  const app = createServiceApp({ logger, listener: 'own-letters' });
  guardRoutes(app, SHARED_ROUTES, { nameOf: () => 'gateway' });
  registerDeadLetterRoutes(app, letters);
  return async ({ request, method, path, body }) => {
    const claims = encodeClaims({ operator: operatorClaimsOf(request) });
    const inject = () =>
      app.inject({
        method,
        url: path,
        headers: { [INTERNAL_HEADERS.claims]: claims },
        ...(body && { payload: body }),
      });
    // A server names the span that it runs in: a span of its own, or the operator's request gets its name.
    const answer = await withSpan('own letters', {}, inject);
    const { statusCode: status, rawPayload } = answer;
    const headers = { ...answer.headers } as Record<string, string>;
    return requireForwardable('gateway', { status, headers, body: rawPayload });
  };
}
