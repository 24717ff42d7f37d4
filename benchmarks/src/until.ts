import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 100;
const LIMIT_MS = 120_000;

/** Asks again until `check` is content. @throws when that takes longer than two minutes */
export async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + LIMIT_MS;
  while (!(await check())) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${LIMIT_MS / 1000} s`);
    await delay(POLL_MS);
  }
}
