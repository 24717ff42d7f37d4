import { flushCompileCache } from 'node:module';

import { createLogger, type Logger } from '@pixmesh/telemetry/logger';

import packageJson from '../package.json' with { type: 'json' };

import { type Health, startHealth } from './health.ts';
import type { StopCause } from './run-service.ts';
import { createStopList, type StopList } from './stop-in-order.ts';
import { warnOfOpenssl } from './warn-of-openssl.ts';
import { warnOfPlaintext } from './warn-of-plaintext.ts';

/** Time to let callers go: waiting connections are taken for 4 s at most, and what rests is ended 7 s later. */
const CALLERS_STOP_MS_MAX = 12_000;
/** Only tests end a service within a process that lives on; they have no callers that would notice. */
const DISPOSED = 'disposed';

type ServiceOptions = {
  name: string;
  config: {
    NODE_ENV: string;
    PIXMESH_ALLOW_PLAINTEXT?: readonly string[] | undefined;
    LOG_LEVEL: Parameters<typeof createLogger>[1];
    HOST: string;
    INTERNAL_PORT: number;
    ROLES?: readonly string[];
  };
  logger?: Logger | undefined;
};

type Part = AsyncDisposable & {
  /** A part that can tell whether it still works counts for the liveness of the process. */
  isAlive?: () => boolean;
  /** Called once, when all parts have started: what takes work from other processes begins here. */
  onReady?: () => void;
  /**
   * Called once, when the stop begins: it takes no more work by itself. What all parts have in hand then ends at the
   * same time, and not part by part.
   */
  takeNoMore?: () => void;
  /** A part with callers lets them go before anything is stopped that they need. */
  drain?: () => Promise<void>;
};

export type Parts = {
  logger: Logger;
  /** Takes a part that has started; it is stopped before all that were taken before it, within a bound. */
  use<Taken extends Part>(name: string, part: Taken, stopMsMax?: number): Taken;
};

/** What a service answers when all its parts have started. */
type Started = {
  /** Where it listens; null where a role of it does not. */
  ports: Record<string, number | null>;
  /** Rejects while the service cannot do its work. */
  checkReady(): Promise<void>;
};

export type RunningService<Answer extends Started> = AsyncDisposable &
  Omit<Answer, 'checkReady'> & {
    ports: { internal: number };
    /** Stops once, however often it is called; the log says why. */
    stop(cause: StopCause): Promise<void>;
  };

/**
 * The frame of every service: its parts are started in the order of their dependencies, then health, which outlives
 * them, then what takes work from other processes. It is alive while every part that can tell is alive, and ready while
 * its own check says so. When it stops, it first says that it is not ready and takes no more work by itself, then ends
 * its connections to callers, then stops the parts in reverse order, and health last. Where a part cannot be started,
 * nothing is left running.
 */
export async function startService<Answer extends Started>(
  options: ServiceOptions,
  startParts: (parts: Parts) => Promise<Answer>,
): Promise<RunningService<Answer>> {
  const { name, config } = options;
  const logger = options.logger ?? createLogger(name, config.LOG_LEVEL);
  const stops = createStopList(logger);
  const parts: Part[] = [];
  warnOfOpenssl(logger);
  warnOfPlaintext(logger, config);
  try {
    const started = await startParts({ logger, use });
    const health = await startHealth({
      host: config.HOST,
      port: config.INTERNAL_PORT,
      isAlive: () => parts.every((part) => part.isAlive?.() ?? true),
      checkReady: started.checkReady,
    });
    const ports = { ...started.ports, internal: health.port };
    logger.info({ version: packageJson.version, roles: config.ROLES, ports }, 'service ready');
    // Written at the end of a process otherwise, which one that is killed does not reach. Nothing where it is off.
    flushCompileCache();
    for (const part of parts) part.onReady?.();
    const stop = stopOnce({ logger, stops, health, parts });
    return { ...started, ports, stop, [Symbol.asyncDispose]: () => stop({ reason: DISPOSED }) };
  } catch (error) {
    await stops.stopAll();
    throw error;
  }

  function use<Taken extends Part>(partName: string, part: Taken, stopMsMax?: number): Taken {
    parts.push(part);
    return stops.use(partName, part, stopMsMax);
  }
}

function stopOnce(running: {
  logger: Logger;
  stops: StopList;
  health: Health;
  parts: readonly Part[];
}) {
  const { logger, stops, health, parts } = running;
  let stopped: Promise<void> | null = null;
  return async (cause: StopCause): Promise<void> => await (stopped ??= stop(cause));

  async function stop(cause: StopCause): Promise<void> {
    logger.info(cause, 'service stopping');
    health.setNotReady();
    for (const part of parts) part.takeNoMore?.();
    if (cause.reason !== DISPOSED) {
      stops.use('callers', { [Symbol.asyncDispose]: drainAll }, CALLERS_STOP_MS_MAX);
    }
    await stops.stopAll();
    await health[Symbol.asyncDispose]();
  }

  async function drainAll(): Promise<void> {
    await Promise.all(parts.map(async (part) => await part.drain?.()));
  }
}
