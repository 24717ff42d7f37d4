/** After this many failures in a row within the window, no call is sent. */
export const FAILURES_MAX = 10;
export const FAILURES_WINDOW_MS = 60_000;
/** Without a call for so long, nobody knows whether the provider is still away. */
export const AWAY_MS = 60_000;

type Outcome<T> = { kind: 'ran'; value: T } | { kind: 'open' };

export type Breaker<T> = {
  /** Runs the work, or nothing: `open` says that it was not begun. */
  run(work: () => Promise<T>): Promise<Outcome<T>>;
  /** Whether it is open, and has held back a call, or seen one fail, within `AWAY_MS`. */
  isAway(): boolean;
};

type Open = {
  probeAtMs: number;
  isProbing: boolean;
  /** When a call was held back or failed last. */
  awayAtMs: number;
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
}): Breaker<T> {
  const { proofOf, now, probeAfterMs } = deps;
  /** Of the failures in a row, while it is closed. */
  let failedAtMs: number[] = [];
  let open: Open | null = null;
  return {
    run: async (work) => {
      if (open !== null) return await probe(open, work);
      const value = await work();
      count(proofOf(value));
      return { kind: 'ran', value };
    },
    isAway: () => open !== null && now() - open.awayAtMs < AWAY_MS,
  };

  async function probe(since: Open, work: () => Promise<T>): Promise<Outcome<T>> {
    if (since.isProbing || now() < since.probeAtMs) {
      since.awayAtMs = now();
      return { kind: 'open' };
    }
    since.isProbing = true;
    try {
      const value = await work();
      open = proofOf(value) === 'reachable' ? null : opened();
      return { kind: 'ran', value };
    } finally {
      since.isProbing = false;
    }
  }

  function count(proof: Proof): void {
    // A call that was begun before the opening says nothing of what came after.
    if (open !== null || proof === 'unknown') return;
    const atMs = now();
    const recent = failedAtMs.filter((then) => atMs - then < FAILURES_WINDOW_MS);
    failedAtMs = proof === 'reachable' ? [] : [...recent, atMs];
    if (failedAtMs.length < FAILURES_MAX) return;
    failedAtMs = [];
    open = opened();
  }

  function opened(): Open {
    return { probeAtMs: now() + probeAfterMs, isProbing: false, awayAtMs: now() };
  }
}
