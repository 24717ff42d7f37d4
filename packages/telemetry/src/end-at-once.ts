/** 128 and the number of SIGTERM: how a process ends by it that has no handler. */
const ENDED_BY_SIGTERM = 143;

/**
 * Handles SIGTERM from the preload on until `runService` can stop the process in order: nothing has begun. Process 1 of
 * a container has no default action, so that without a handler the signal would be lost.
 */
export function endAtOnce(): void {
  process.exit(ENDED_BY_SIGTERM);
}
