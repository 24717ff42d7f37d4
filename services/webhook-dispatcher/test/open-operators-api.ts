import { ANSWER_HEADERS, INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import { isDispatched } from '@pixmesh/contracts/events/event-catalogue';
import type { CallerClaims } from '@pixmesh/contracts/internal/service-token';
import { createTokenSigner, createTokenVerifier } from '@pixmesh/http/service-token';
import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';

import { buildApp } from '#app.ts';
import type { Json } from './start-endpoints-api.ts';
import { endpointDeps } from './store-endpoint.ts';
import { tokenKeys } from './test-dispatcher.ts';

export const OPERATOR_ID = newId();

const SERVICE = 'webhook-dispatcher';

type OperatorAnswer = { status: number; body: Json; replayed: boolean; mismatch: boolean };

export type OperatorsApi = AsyncDisposable & {
  /** `route` is method and path; without a caller the gateway asks for the installation. */
  call(route: string, body?: object, caller?: CallerClaims): Promise<OperatorAnswer>;
};

const NO_BACKLOG = {
  count: 0,
  oldestWaitingSeconds: 0,
  oldestServedSeconds: 0,
  eventsWaiting: null,
};

/** The role's routes on a database, without a socket and without Kafka. */
export async function openOperatorsApi(
  db: Database,
  wakeSenders: (laneIds: readonly string[]) => void = () => undefined,
): Promise<OperatorsApi> {
  const sign = await createTokenSigner(tokenKeys.privateKeys['gateway'] ?? {});
  const noDeadLetters = { list: async () => [], replay: async () => ({ kind: 'unknown' }) };
  const app = buildApp({
    ...endpointDeps(db),
    wakeSenders,
    verifyToken: createTokenVerifier(SERVICE, tokenKeys.publicKeys),
    deadLetters: noDeadLetters as never,
    isDispatched,
    readBacklog: async () => NO_BACKLOG,
    reconciliation: noDeadLetters as never,
  });
  return {
    call: async (route, body, caller) => {
      const [method = 'GET', url = ''] = route.split(' ');
      const token = await sign(SERVICE, caller ?? null);
      const answer = await app.inject({
        method: method as 'GET' | 'POST',
        url,
        headers: { [INTERNAL_HEADERS.token]: token, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
      return {
        status: answer.statusCode,
        body: answer.json(),
        replayed: answer.headers[ANSWER_HEADERS.replayed] === 'true',
        mismatch: answer.headers[ANSWER_HEADERS.mismatch] === 'true',
      };
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}
