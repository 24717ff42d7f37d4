import { startTimeLimit } from '@pixmesh/kernel/time-limit';

import { AttemptFailure } from './attempt-failure.ts';

/** The one limit in time of an attempt, over look-up, connect, TLS, head and body (decision 198). */
export type Deadline = {
  /** The listener is called as it passes, at once if it has; an attempt waits for one thing at a time. */
  onPassed(listener: (failure: AttemptFailure) => void): void;
  clear(): void;
};

/**
 * Timers and a closure: an `AbortSignal` with its listeners costs more than the rest of an attempt. An answer that came
 * while this process stood still is read first.
 */
export function startDeadline(timeoutMs: number): Deadline {
  let passed: AttemptFailure | null = null;
  let notify: (failure: AttemptFailure) => void = () => undefined;
  const endLimit = startTimeLimit(timeoutMs, () => {
    passed = new AttemptFailure('timeout', `no complete answer head within ${timeoutMs} ms`);
    notify(passed);
  });
  return {
    onPassed: (listener) => {
      notify = listener;
      if (passed !== null) listener(passed);
    },
    clear: endLimit,
  };
}

/** A look-up cannot be cancelled; it is left behind, and ends by its own limits. */
export function within<T>(deadline: Deadline, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    deadline.onPassed(reject);
    work.then(resolve, reject);
  });
}
