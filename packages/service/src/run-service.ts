import { setImmediate as nextTurn } from 'node:timers/promises';

import { endAtOnce } from '@pixmesh/telemetry/end-at-once';
import { stackOf } from '@pixmesh/telemetry/logger';
import { stopTelemetry } from '@pixmesh/telemetry/running-telemetry';
import closeWithGrace from 'close-with-grace';

import { ConfigError } from './config.ts';

/** A stop that takes longer is ended: longest request + drain of consumers and senders. */
const STOP_TIMEOUT_MS = 20_000;

/** Why a process stops, for its log. */
export type StopCause = { reason: string; signal?: string | undefined; err?: Error };

/** Without `stop`, what runs is stopped without knowing why. */
type Running = AsyncDisposable & { stop?: (cause: StopCause) => Promise<void> };

/** What made the process end itself. */
let fatal: Error | null = null;
let isStopping = false;

/**
 * The life of a service process: starts it, stops it in order on a signal, and writes in one line why it could
 * not start. An unhandled rejection is a bug: the process ends, with its telemetry flushed.
 */
export async function runService(name: string, start: () => Promise<Running>): Promise<void> {
  // Modules load within one turn of the event loop: a signal that came meanwhile is handled in the next.
  await nextTurn();
  // The handlers stand before the service begins: a signal that comes while it boots stops it in order too.
  const starting = Promise.resolve().then(start);
  const onTimeout = (ms: number) => {
    process.stderr.write(`${name}: the stop took longer than ${ms} ms and is ended\n`);
  };
  closeWithGrace({ delay: STOP_TIMEOUT_MS, logger: false, onTimeout }, async ({ err, signal }) => {
    isStopping = true;
    if (err) process.stderr.write(`${name}: ${stackOf(err)}\n`);
    const running = await starting.catch(() => null);
    await (running?.stop?.(causeOf(err, signal)) ?? running?.[Symbol.asyncDispose]());
    await stopTelemetry();
    // A service that ends itself, because a consumer gave up, says so; the library would end with 0.
    if (process.exitCode) process.exit();
  });
  process.off('SIGTERM', endAtOnce);
  try {
    await starting;
  } catch (error) {
    process.stderr.write(`${name}: ${describeBootFailure(error)}\n`);
    await stopTelemetry();
    process.exit(1);
  }
}

/**
 * Ends the process in order after a failure that cannot be mended in place, such as a consumer that the library
 * has given up; the supervisor starts it again.
 */
export function endProcess(error: Error): void {
  process.stderr.write(`${stackOf(error)}\n`);
  process.exitCode = 1;
  // A second signal would end the process at once, with what it has in its hands.
  if (fatal !== null || isStopping) return;
  fatal = error;
  process.kill(process.pid, 'SIGTERM');
}

function causeOf(unhandled: Error | undefined, signal: string | undefined): StopCause {
  if (fatal !== null) return { reason: 'cannot go on', err: fatal };
  if (unhandled !== undefined) return { reason: 'unhandled error', err: unhandled };
  return { reason: 'signal', signal };
}

function describeBootFailure(error: unknown): string {
  if (error instanceof ConfigError) return error.message.replaceAll('\n', '; ');
  if (!(error instanceof Error)) return 'could not start';
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE') return `port ${port} is in use`;
  return stackOf(error);
}
