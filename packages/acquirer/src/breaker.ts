import {
  BrokenCircuitError,
  circuitBreaker,
  CircuitState,
  handleWhenResult,
  type IBackoff,
  type IBreaker,
} from 'cockatiel';

/** After this many failures in a row within the window, no call is sent. */
export const FAILURES_MAX = 10;
export const FAILURES_WINDOW_MS = 60_000;

export type Breaker<T> = {
  /** Runs the work, or nothing: `open` says that it was not begun. */
  run(work: () => Promise<T>): Promise<{ kind: 'ran'; value: T } | { kind: 'open' }>;
};

/** What a call says of its provider: `unknown` where its caller gave up before the answer was due. */
export type Proof = 'reachable' | 'unreachable' | 'unknown';

/**
 * Keeps calls from a provider that does not answer. After `probeAfterMs` one call is let through, and the others wait
 * for no answer of it. A call that proves nothing is not counted; the one that was let through has to prove that the
 * provider is reachable. `now` is a clock that never jumps, in milliseconds.
 */
export function createBreaker<T>(deps: {
  proofOf: (value: T) => Proof;
  now: () => number;
  probeAfterMs: number;
  onChange: (isOpen: boolean) => void;
}): Breaker<T> {
  const policy = circuitBreaker(
    handleWhenResult((value) => deps.proofOf(value as T) !== 'reachable'),
    { breaker: failuresInARow(deps.now), halfOpenAfter: { next: () => probeLater(deps) } },
  );
  policy.onStateChange((state) => deps.onChange(state !== CircuitState.Closed));
  return {
    run: async (work) => {
      // The library would let others wait for the one that probes, without any deadline.
      if (policy.state === CircuitState.HalfOpen) return { kind: 'open' };
      const isProbe = policy.state === CircuitState.Open;
      try {
        const value = await policy.execute(async () => {
          const answer = await work();
          if (deps.proofOf(answer) === 'unknown' && !isProbe) throw new NotCounted(answer);
          return answer;
        });
        return { kind: 'ran', value };
      } catch (error) {
        if (error instanceof NotCounted) return { kind: 'ran', value: error.value as T };
        if (error instanceof BrokenCircuitError) return { kind: 'open' };
        throw error;
      }
    },
  };
}

/** The library counts no error as a failure or a success, while it is closed. */
class NotCounted extends Error {
  readonly value: unknown;

  constructor(value: unknown) {
    super('this call is not counted');
    this.value = value;
  }
}

function failuresInARow(now: () => number): IBreaker {
  let failedAtMs: number[] = [];
  return {
    state: null,
    success: () => {
      failedAtMs = [];
    },
    failure: () => {
      const atMs = now();
      const recent = failedAtMs.filter((then) => atMs - then < FAILURES_WINDOW_MS);
      failedAtMs = [...recent, atMs].slice(-FAILURES_MAX);
      return failedAtMs.length === FAILURES_MAX;
    },
  };
}

/**
 * The library compares a duration with the time of day, so that a clock set back by an hour would keep calls away
 * for an hour. A duration that is either for ever or over leaves the measuring to our own clock.
 */
function probeLater(deps: { now: () => number; probeAfterMs: number }): IBackoff<unknown> {
  const openedAtMs = deps.now();
  return {
    get duration() {
      return deps.now() - openedAtMs < deps.probeAfterMs
        ? Number.POSITIVE_INFINITY
        : Number.NEGATIVE_INFINITY;
    },
    next: () => probeLater(deps),
  };
}
