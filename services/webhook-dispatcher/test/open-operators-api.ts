import { ANSWER_HEADERS } from '@pixmesh/contracts/internal/headers';
import { isDispatched } from '@pixmesh/contracts/events/event-catalogue';
import type { TenantClaims } from '@pixmesh/contracts/internal/caller-claims';
import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { injectedCall, injectedPeers } from '@pixmesh/testkit/injected-peers';

import { buildApp } from '#app.ts';
import type { Json } from './start-endpoints-api.ts';
import { endpointDeps } from './store-endpoint.ts';

export const OPERATOR_ID = newId();

const SERVICE = 'webhook-dispatcher';

type OperatorAnswer = { status: number; body: Json; replayed: boolean; mismatch: boolean };

export type OperatorsApi = AsyncDisposable & {
  /** `route` is method and path; without a caller the gateway asks for the installation. */
  call(route: string, body?: object, caller?: TenantClaims): Promise<OperatorAnswer>;
};

const NO_BACKLOG = {
  count: 0,
  oldestWaitingSeconds: 0,
  oldestLimitedSeconds: 0,
  oldestServedSeconds: 0,
  eventsWaiting: null,
  setAside: { count: 0, oldestSeconds: 0 },
};

/** The role's routes on a database, without a socket and without Kafka. */
export async function openOperatorsApi(
  db: Database,
  wakeSenders: (laneIds: readonly string[]) => void = () => undefined,
): Promise<OperatorsApi> {
  const noDeadLetters = { list: async () => [], replay: async () => ({ kind: 'unknown' }) };
  const app = buildApp({
    ...endpointDeps(db),
    wakeSenders,
    peers: injectedPeers,
    deadLetters: noDeadLetters as never,
    isDispatched,
    readBacklog: async () => NO_BACKLOG,
    handledUntil: async () => new Date(),
    reconciliation: noDeadLetters as never,
  });
  return {
    call: async (route, body, caller) => {
      const asked = { route, body, caller: caller ?? null };
      const answer = await app.inject(injectedCall(SERVICE, asked));
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
