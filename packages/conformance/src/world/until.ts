import { setTimeout as wait } from 'node:timers/promises';

const PAUSE_MS = 150;
const LIMIT_MS = 20_000;

/** Tries until it does not throw any more, or throws the last failure at the limit. */
export async function until<T>(attempt: () => Promise<T>, limitMs: number = LIMIT_MS): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() >= deadline) throw error;
    }
    await wait(PAUSE_MS);
  }
}
