import { setTimeout as delay } from 'node:timers/promises';

import type { MeshIdentity } from '@pixmesh/certificates/mesh-identity';
import type { Claims } from '@pixmesh/contracts/internal/caller-claims';
import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { ServiceName } from '@pixmesh/contracts/internal/identities';
import { currentAccount } from '@pixmesh/fair-share/current-account';
import { createContention } from '@pixmesh/fair-share/contention';
import { createFairQueue, type FairQueue, WAITING_MAX } from '@pixmesh/fair-share/fair-queue';
import { NoTurnError } from '@pixmesh/fair-share/no-turn-error';
import { fourTimesFree } from '@pixmesh/fair-share/share-of-places';
import { createYoungCalls } from '@pixmesh/fair-share/young-calls';
import { AppError } from '@pixmesh/kernel/app-error';
import { currentRequestId } from '@pixmesh/telemetry/request-id';
import { type Dispatcher, Pool } from 'undici';

import { encodeClaims } from '@pixmesh/contracts/internal/claims-header';
import { type Deadline, deadlineIn, withSignal } from './deadline.ts';
import { meshConnector } from './mesh-connector.ts';
import { observeUpstream } from './observe-upstream.ts';
import { repeatAfterMs } from './repeat-call.ts';
import { requestWhole, type WholeAnswer } from './whole-answer.ts';

/**
 * Calls under way at once, each with a connection of its own. A write may wait for the acquirer, which costs nobody
 * anything; what a read waits for is the CPU of its service, where many at once would only be a longer line (ADR 0023).
 * One account alone has 512 and 64 of them, so that the next one finds a place (ADR 0024).
 */
const WRITES_MAX = 640;
const READS_MAX = 80;
/** Calls of one account that this process has just begun. Writes that come together share statements, reads do not. */
const YOUNG_WRITES = { aloneMax: WRITES_MAX, besideOthersMax: 4, inGroups: true };
const YOUNG_READS = { aloneMax: 4, besideOthersMax: 2, inGroups: false };
/**
 * An idle connection has ended before a process that stops ends it (`end-connections.ts`), whatever the peer allows.
 */
const KEEP_ALIVE_TIMEOUT_MS = 1_000;
/** More than any answer of a peer, a page of a hundred items included. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
/** Time kept back so that a callee answers before its caller gives up. */
const HOP_MARGIN_MS = 100;
/**
 * What the first try of a read has of its time: a process that stands still takes it on an open connection and answers
 * nothing, while another one would, before a client gives up. Holds, which may be repeated too, may take long at the
 * ledger.
 */
const FIRST_TRY_SHARE = 0.5;
const FIRST_TRY_MS_MAX = 2_000;

/** Each call waits until its own deadline. */
const UNBOUNDED_WAIT = { waitingMax: WAITING_MAX, waitMsMax: Number.POSITIVE_INFINITY };

export type InternalRequest = {
  method: Dispatcher.HttpMethod;
  path: string;
  /** For whom the gateway calls; null where a service calls for itself. */
  claims: Claims | null;
  deadline: Deadline;
  headers?: Record<string, string>;
  body?: Uint8Array;
  /** Whether it may be made again after it was cut off; by default a `GET` alone. */
  isRepeatable?: boolean;
};

export type InternalAnswer = WholeAnswer;

export type InternalClient = AsyncDisposable & {
  /**
   * @throws AppError `DEPENDENCY_UNAVAILABLE` when no answer came in time: the outcome is unknown, unless its cause is a
   *   `NoTurnError`, after which nothing was sent
   */
  request(request: InternalRequest): Promise<InternalAnswer>;
};

/** Makes the clients of a service, each of which ends with it: `use` takes them as its parts. */
export function createClients(
  identity: Pick<MeshIdentity, 'current'>,
  use: (name: string, client: InternalClient) => InternalClient,
): (service: ServiceName, url: string) => InternalClient {
  return (service, url) =>
    use(`client of ${service}`, createInternalClient({ service, url, identity }));
}

/**
 * Calls one service of the mesh in equal turns by account, reads apart from writes: by mutual TLS, under the caller's
 * deadline, repeated only where that is safe.
 */
export function createInternalClient(options: {
  service: ServiceName;
  url: string;
  identity: Pick<MeshIdentity, 'current'>;
}): InternalClient {
  const { service, url, identity } = options;
  const contention = createContention();
  // Each with handshakes of its own: a read waits for none of hundreds of writes.
  const open = (name: string, places: number, young: typeof YOUNG_READS) => ({
    ...openConnections(`${service} ${name}`, places, {
      url,
      connect: meshConnector(identity, service),
    }),
    beginSpread: createYoungCalls({ name: `${service} young ${name}`, contention, ...young }),
  });
  const reads = open('reads', READS_MAX, YOUNG_READS);
  const writes = open('writes', WRITES_MAX, YOUNG_WRITES);
  return {
    request: (call) =>
      observeUpstream({ upstream: service, method: call.method }, () => request(call)),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([reads.pool.destroy(), writes.pool.destroy()]);
    },
  };

  async function request(call: InternalRequest): Promise<InternalAnswer> {
    const { pool, turns, beginSpread } = call.method === 'GET' ? reads : writes;
    const account = accountOf(call.claims) ?? currentAccount();
    const beginBeforeMs = performance.now() + call.deadline.remainingMs();
    try {
      return await turns.run(
        account,
        () => {
          const timeLeftMs = call.deadline.remainingMs();
          return beginSpread({ account, timeLeftMs }, () => send(pool, call));
        },
        { beginBeforeMs },
      );
    } catch (cause) {
      if (!(cause instanceof NoTurnError)) throw cause;
      const message = `${service} was not called: ${cause.message}`;
      throw new AppError('DEPENDENCY_UNAVAILABLE', { message, cause });
    }
  }

  async function send(pool: Pool, call: InternalRequest): Promise<InternalAnswer> {
    const requestId = currentRequestId();
    const headers = {
      ...call.headers,
      ...(call.claims === null ? {} : { [INTERNAL_HEADERS.claims]: encodeClaims(call.claims) }),
      ...(requestId === null ? {} : { [INTERNAL_HEADERS.requestId]: requestId }),
    };
    for (let tries = 1; ; tries += 1) {
      try {
        const deadline = deadlineOfTry(call, tries);
        const timeoutMs = String(Math.max(1, deadline.remainingMs() - HOP_MARGIN_MS));
        const sent = { ...headers, [INTERNAL_HEADERS.timeoutMs]: timeoutMs };
        return await exchange(pool, { ...call, deadline }, sent);
      } catch (error) {
        const pauseMs = repeatAfterMs(call, error, tries);
        if (pauseMs === null || call.deadline.remainingMs() <= pauseMs) {
          throw new AppError('DEPENDENCY_UNAVAILABLE', {
            message: `${options.service} did not answer`,
            cause: error,
          });
        }
        await delay(pauseMs);
      }
    }
  }
}

function deadlineOfTry(call: InternalRequest, tries: number): Deadline {
  if (tries > 1 || call.method !== 'GET') return call.deadline;
  return deadlineIn(Math.min(call.deadline.remainingMs() * FIRST_TRY_SHARE, FIRST_TRY_MS_MAX));
}

function accountOf(claims: Claims | null): string | null {
  return claims !== null && 'tenant' in claims ? claims.tenant.account_id : null;
}

async function exchange(
  pool: Pool,
  call: InternalRequest,
  headers: Record<string, string>,
): Promise<InternalAnswer> {
  const { method, path, body = null } = call;
  return await withSignal(call.deadline, async (signal) =>
    requestWhole(pool, { method, path, headers, body }, { signal, bytesMax: ANSWER_BYTES_MAX }),
  );
}

/** As many connections as places, so that nothing waits in the pool, where nobody has turns. */
function openConnections(
  name: string,
  places: number,
  peer: { url: string; connect: ReturnType<typeof meshConnector> },
): { pool: Pool; turns: FairQueue } {
  const pool = new Pool(peer.url, {
    connections: places,
    connect: peer.connect,
    // Otherwise all calls wait for the first connection, which tells whether the peer speaks HTTP/2.
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_TIMEOUT_MS,
  });
  return {
    pool,
    turns: createFairQueue({ name, places, share: fourTimesFree, ...UNBOUNDED_WAIT }),
  };
}
