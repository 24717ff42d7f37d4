import { setTimeout as delay } from 'node:timers/promises';

import type { Logger } from '@pixmesh/telemetry/logger';

/** No single step of a stop may hold up the rest for longer. */
const STEP_TIMEOUT_MS = 8_000;

/**
 * Collects what a service has started and ends it in reverse order, each step within a bound. Composition
 * roots push pools first and readiness last, so that a stop goes: readiness off, HTTP, consumers, relay,
 * producer, pools.
 */
export function createStopList(
  logger: Logger,
  stepTimeoutMs: number = STEP_TIMEOUT_MS,
): {
  add(name: string, stop: () => Promise<void> | void): void;
  use<T extends AsyncDisposable>(name: string, resource: T): T;
  stopAll(): Promise<void>;
} {
  const steps: { name: string; stop: () => Promise<void> | void }[] = [];
  return {
    add: (name, stop) => void steps.push({ name, stop }),
    use: (name, resource) => {
      steps.push({ name, stop: () => resource[Symbol.asyncDispose]() as Promise<void> });
      return resource;
    },
    stopAll: async () => {
      for (const step of steps.splice(0).toReversed()) await stopStep(step);
    },
  };

  async function stopStep(step: { name: string; stop: () => Promise<void> | void }): Promise<void> {
    const timer = new AbortController();
    const expired = delay(stepTimeoutMs, 'expired', { signal: timer.signal }).catch(() => 'ended');
    try {
      const outcome = await Promise.race([Promise.resolve(step.stop()), expired]);
      if (outcome === 'expired')
        logger.warn({ step: step.name }, 'a step of the stop took too long');
    } catch (error) {
      logger.warn({ err: error, step: step.name }, 'a step of the stop failed');
    } finally {
      timer.abort();
    }
  }
}
