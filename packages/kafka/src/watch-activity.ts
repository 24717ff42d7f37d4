import type { Consumer } from 'kafkajs';

/** Without any sign of life from the library for this long, the process is better restarted. */
const SILENCE_MS_MAX = 120_000;

export type Activity = {
  isAlive(): boolean;
  /** A sign of life that the library does not announce. */
  touch(): void;
  /** `onGivenUp` is called when the library has ended this consumer for good. */
  watch(consumer: Consumer, onGivenUp: (error: Error) => void): void;
};

/** Follows the library's own events: fetching, joining and even crashing are signs of life. */
export function watchActivity(): Activity {
  let lastActivityMs = performance.now();
  return { isAlive, touch, watch };

  function isAlive(): boolean {
    return performance.now() - lastActivityMs < SILENCE_MS_MAX;
  }

  function touch(): void {
    lastActivityMs = performance.now();
  }

  function watch(consumer: Consumer, onGivenUp: (error: Error) => void): void {
    const { CRASH, FETCH, GROUP_JOIN, HEARTBEAT } = consumer.events;
    for (const event of [FETCH, GROUP_JOIN, HEARTBEAT]) consumer.on(event, touch);
    consumer.on(CRASH, ({ payload }) => {
      touch();
      // `restart: false` leaves a process that looks healthy and consumes nothing.
      if (!payload.restart) onGivenUp(payload.error);
    });
  }
}
