import { context, metrics, propagation, trace } from '@opentelemetry/api';

/** What the first module of a process has started (`preload.ts`). */
export type RunningTelemetry = {
  /** All metrics of this process in Prometheus's text format. */
  render(): Promise<string>;
  /** Sends what is buffered. */
  shutdown(): Promise<unknown>;
};

const FLUSH_TIMEOUT_MS = 3_000;

let running: RunningTelemetry | null = null;

export function setRunningTelemetry(started: RunningTelemetry): void {
  running = started;
}

/** All metrics of this process in Prometheus's text format; null where it was started without the preload. */
export async function renderMetrics(): Promise<string | null> {
  return running === null ? null : await running.render();
}

/** Last step of a graceful stop: sends what is buffered, within a bound, and never throws. */
export async function stopTelemetry(): Promise<void> {
  const stopping = running?.shutdown().catch(() => undefined);
  const timeout = AbortSignal.timeout(FLUSH_TIMEOUT_MS);
  await Promise.race([
    stopping,
    new Promise<void>((resolve) => timeout.addEventListener('abort', () => resolve())),
  ]);
  // A tracer that has been shut down would still give new span ids to work that goes on in this process.
  for (const api of [trace, context, propagation, metrics]) api.disable();
}
