const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** The terminal, npm and the bootstrap may each deliver the same Ctrl-C; that is still one. */
const SAME_REQUEST_MS = 500;
const KEEP_ALIVE_INTERVAL_MS = 60_000;
const PARENT_POLL_INTERVAL_MS = 500;

/**
 * Calls `onStop` at the first signal and when the parent dies (unless the process is meant to outlive
 * it), and `onImpatience` at a second signal.
 */
export function listenForStop(input: {
  followParent: boolean;
  onStop(reason: string): void;
  onImpatience(): void;
}): { close(): void } {
  let firstAtMs: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (firstAtMs === undefined) {
      firstAtMs = now;
      input.onStop(signal);
    } else if (now - firstAtMs > SAME_REQUEST_MS) {
      input.onImpatience();
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  // Waiting for a signal alone would not keep the process running.
  const keepAlive = setInterval(() => undefined, KEEP_ALIVE_INTERVAL_MS);
  const watch = input.followParent
    ? watchParent(() => {
        firstAtMs ??= performance.now();
        input.onStop('the parent process is gone');
      })
    : undefined;
  return {
    close() {
      clearInterval(keepAlive);
      clearInterval(watch);
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

/** An orphan is adopted, so its parent's pid changes. */
function watchParent(onGone: () => void): NodeJS.Timeout {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, PARENT_POLL_INTERVAL_MS);
  timer.unref();
  return timer;
}
