import { createPool, type Database } from './pool.ts';

/**
 * How long a statement of many items waits for a row: a process that stands still may hold one for seconds.
 */
const LOCK_TIMEOUT_MS = 1_000;

/** The pool of a service's statements that many writes share (`createWriteBatcher`), beside its main one. */
export function createSharedWritesPool(options: {
  url: string;
  applicationName: string;
  max: number;
}): Database {
  return createPool({
    ...options,
    name: 'writes',
    plansOnce: true,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  });
}
