import { setTimeout as delay } from 'node:timers/promises';

import type { Logger } from '@pixmesh/telemetry/logger';

/** The truth behind every hint: what is due is found this soon, whatever was lost. */
const POLL_INTERVAL_MS = 200;
/** Waits while the database is away. */
const RETRY_DELAY_MS = 250;
const RETRY_DELAY_MS_MAX = 2_000;
/** A loop that has not turned for this long is stuck: the process is better restarted. */
const SILENCE_MS_MAX = 60_000;

export type ClaimLoop = {
  /** Cuts the wait short; while nobody waits, it cuts the next one: no hint is lost. */
  kick(): void;
  isAlive(): boolean;
  /** Ends after the turn in progress. */
  stop(): Promise<void>;
};

/**
 * Turns for as long as there is something to claim, then waits for a hint or the next poll. It never gives
 * up: while the database is away it waits and goes on.
 *
 * @param turn claims and begins sends; answers how many
 */
export function startClaimLoop(turn: () => Promise<number>, logger: Logger): ClaimLoop {
  const stopping = new AbortController();
  let kicked = Promise.withResolvers<void>();
  let turnedMs = performance.now();
  const running = loop();
  return {
    kick: () => kicked.resolve(),
    isAlive: () => performance.now() - turnedMs < SILENCE_MS_MAX,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };

  async function loop(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      turnedMs = performance.now();
      try {
        if ((await turn()) === 0) await waitForKick();
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 1) logger.warn({ err: error }, 'sender waits for the database');
        const backoffMs = Math.min(RETRY_DELAY_MS * 2 ** failures, RETRY_DELAY_MS_MAX);
        await delay(backoffMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  async function waitForKick(): Promise<void> {
    const timer = new AbortController();
    const signal = AbortSignal.any([stopping.signal, timer.signal]);
    const poll = delay(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    await Promise.race([poll, kicked.promise]);
    timer.abort();
    kicked = Promise.withResolvers();
  }
}
