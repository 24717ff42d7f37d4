import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import net from 'node:net';

import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Takes no new connection and lets callers go; resolves when the last one has left. */
    drain(): Promise<void>;
  }
}

/** How long a connection serves requests, a third more or less: processes that are added get their part by then. */
const CONNECTION_LIFE_MS = 30_000;
const LIFE_JITTER = 1 / 3;
/**
 * What answers ask clients to count on (`Keep-Alive: timeout=5`): who follows it sends nothing on a connection that has
 * been idle for longer. undici ends it 2 s before that time, Node's own agent 1 s.
 */
const ANNOUNCED_IDLE_MS = 5_000;
/** While it runs, a process lets proxies keep connections for longer, who follow no announcement. */
const IDLE_MS_MAX = 72_000;
/** Idle connections of a process that stops are ended so long after clients were asked to have ended them. */
const DRAIN_MARGIN_MS = 2_000;
/**
 * How long connections that wait are taken before the listener closes: Node takes one in a turn of the event loop, and
 * on a busy machine hundreds may have come while the process had no turn.
 */
const ACCEPTING_MS_MAX = 4_000;
const SHORT_TURN_MS = 1;

/**
 * Connections end with an answer that says so, which no client can misread: when they are old, and when the process
 * stops. One that was merely closed could have carried a request at that moment, whose outcome nobody would know.
 */
export function endConnections(app: FastifyInstance): void {
  app.server.keepAliveTimeout = ANNOUNCED_IDLE_MS;
  app.server.keepAliveTimeoutBuffer = IDLE_MS_MAX - ANNOUNCED_IDLE_MS;
  const endsAtMs = new WeakMap<object, number>();
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onSend', async (request, reply) => {
    if (closing || isOld(request.raw.socket)) reply.header('connection', 'close');
  });
  app.decorate('drain', drain);

  /** Counted from the first answer: before it, a limit of its own holds. */
  function isOld(socket: object): boolean {
    const now = performance.now();
    const endMs = endsAtMs.get(socket);
    if (endMs === undefined) endsAtMs.set(socket, now + someLifeMs());
    return endMs !== undefined && now > endMs;
  }

  async function drain(): Promise<void> {
    closing = true;
    await acceptWaiting(app.server);
    const { promise, resolve } = Promise.withResolvers<void>();
    // Node's own HTTP server would end idle connections with its listener.
    net.Server.prototype.close.call(app.server, () => resolve());
    const waiting = new AbortController();
    const idleMs = app.server.keepAliveTimeout + DRAIN_MARGIN_MS;
    const idle = delay(idleMs, undefined, { signal: waiting.signal });
    idle.then(
      () => app.server.closeIdleConnections(),
      () => undefined,
    );
    await promise;
    waiting.abort();
  }
}

function someLifeMs(): number {
  return CONNECTION_LIFE_MS * (1 + LIFE_JITTER * (2 * Math.random() - 1));
}

/**
 * Linux resets what waits to be accepted when a listener closes, also where others listen on the same port: it closes
 * right after a turn of the event loop that was short and found nobody waiting.
 */
async function acceptWaiting(server: net.Server): Promise<void> {
  let accepted = 0;
  const onConnection = (): void => {
    accepted += 1;
  };
  server.on('connection', onConnection);
  // The first turn ends what has begun; whatever came since is found by the next.
  await nextTurn();
  const untilMs = performance.now() + ACCEPTING_MS_MAX;
  while (performance.now() < untilMs) {
    const before = { accepted, ms: performance.now() };
    await nextTurn();
    if (accepted === before.accepted && performance.now() - before.ms < SHORT_TURN_MS) break;
  }
  server.off('connection', onConnection);
}
