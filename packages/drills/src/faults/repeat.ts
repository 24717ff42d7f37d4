import { setTimeout as delay } from 'node:timers/promises';

export type Repetition = {
  /** Resolves when the last time has ended. */
  stop(): Promise<void>;
};

/** Does something again and again, whatever comes of it. */
export function repeat(pauseMs: number, work: () => Promise<unknown>): Repetition {
  const stopping = new AbortController();
  const ended = run();
  return {
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await work().catch(() => undefined);
      await delay(pauseMs);
    }
  }
}
