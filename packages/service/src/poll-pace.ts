/** Once nothing has been found for `IDLE_AFTER_MS`. */
const IDLE_INTERVAL_MS = 1_000;
/** Longer than what was found takes to plan its next step. */
const IDLE_AFTER_MS = 5_000;

/** How often a loop polls: at its own interval, and once a second while it finds nothing (ADR 0038). */
export type PollPace = {
  /** Whether the last poll found something. */
  note(hasFound: boolean): void;
  intervalMs(): number;
};

export function createPollPace(intervalMs: number): PollPace {
  let foundMs = performance.now();
  return {
    note: (hasFound) => {
      if (hasFound) foundMs = performance.now();
    },
    intervalMs: () => (performance.now() - foundMs < IDLE_AFTER_MS ? intervalMs : IDLE_INTERVAL_MS),
  };
}
