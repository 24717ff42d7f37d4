/** After this many failures in a row within the window, no call is sent. */
export const FAILURES_MAX = 10;
export const FAILURES_WINDOW_MS = 60_000;
/** Without a call for so long, nobody knows whether the provider is still away. */
export const AWAY_MS = 60_000;

/** What a call says of its provider: `unknown` where its caller gave up before the answer was due. */
export type Proof = 'reachable' | 'unreachable' | 'unknown';

/** `failure` is what the last call that failed has ended with. */
export type Outcome<T> = { kind: 'ran'; value: T } | { kind: 'open'; failure: T };

export type CircuitDeps<T> = {
  proofOf: (value: T) => Proof;
  /** A clock that never jumps, in milliseconds. */
  now: () => number;
  probeAfterMs: number;
};

/** The failures in a row of the calls that share it; while it is open, one of them at a time is made. */
export type Circuit<T> = {
  isOpen(): boolean;
  /** Whether it is open, and was closed before then. */
  hasOpenedSince(atMs: number): boolean;
  /** Whether it is open, and has held back a call, or seen one fail, within `AWAY_MS`. */
  isAway(): boolean;
  /** Makes the call; while it is open, only the one that tries. */
  run(account: string, work: () => Promise<T>): Promise<Outcome<T>>;
  /** Counts what a call has ended with. */
  count(account: string, value: T): void;
};

type Failure = { account: string; atMs: number };

type Open<T> = {
  sinceMs: number;
  probeAtMs: number;
  isProbing: boolean;
  /** In which order accounts have tried last, from 1; one more account at each try at most. */
  tries: Map<string, number>;
  tryCount: number;
  /** Of the accounts whose calls were held back since the last try, when the first of them had tried; 0: never. */
  firstWaiting: number;
  /** When a call was held back or failed last. */
  awayAtMs: number;
  failure: T;
};

/**
 * Opens after `FAILURES_MAX` failures in a row, where they are of so many accounts. A call that proves nothing is not
 * counted; the one that tries has to prove that the provider is reachable.
 */
export function createCircuit<T>(deps: CircuitDeps<T>, accountsMin: number): Circuit<T> {
  const { proofOf, now, probeAfterMs } = deps;
  /** The last ones in a row, while it is closed. */
  let failures: Failure[] = [];
  let open: Open<T> | null = null;
  return {
    isOpen: () => open !== null,
    hasOpenedSince: (atMs) => open !== null && open.sinceMs >= atMs,
    isAway: () => open !== null && now() - open.awayAtMs < AWAY_MS,
    run: async (account, work) => {
      if (open === null) return { kind: 'ran', value: await work() };
      if (mayProbe(open, account)) return { kind: 'ran', value: await probe(open, account, work) };
      open.awayAtMs = now();
      open.firstWaiting = Math.min(open.firstWaiting, triedLast(open, account));
      return { kind: 'open', failure: open.failure };
    },
    count,
  };

  function count(account: string, value: T): void {
    const proof = proofOf(value);
    // A call that was begun before the opening says nothing of what came after.
    if (open !== null || proof === 'unknown') return;
    if (proof === 'reachable') {
      failures = [];
      return;
    }
    const atMs = now();
    const recent = failures.filter((failure) => atMs - failure.atMs < FAILURES_WINDOW_MS);
    failures = [...recent, { account, atMs }].slice(-FAILURES_MAX);
    if (failures.length < FAILURES_MAX) return;
    if (new Set(failures.map((failure) => failure.account)).size < accountsMin) return;
    failures = [];
    open = opened(value);
  }

  function opened(failure: T): Open<T> {
    const sinceMs = now();
    const probeAtMs = sinceMs + probeAfterMs;
    const untried = { isProbing: false, tryCount: 0, firstWaiting: Number.POSITIVE_INFINITY };
    return { ...untried, tries: new Map(), sinceMs, probeAtMs, awayAtMs: sinceMs, failure };
  }

  /** Who has tried leaves the next try to an account that waits and tried before it, or never, for as long again. */
  function mayProbe(since: Open<T>, account: string): boolean {
    const leavesIt = since.firstWaiting < triedLast(since, account);
    const probeAtMs = since.probeAtMs + (leavesIt ? probeAfterMs : 0);
    return !since.isProbing && now() >= probeAtMs;
  }

  async function probe(since: Open<T>, account: string, work: () => Promise<T>): Promise<T> {
    since.isProbing = true;
    since.firstWaiting = Number.POSITIVE_INFINITY;
    // From its beginning: what is held back of this account meanwhile does not wait before it.
    since.tries.set(account, (since.tryCount += 1));
    try {
      const value = await work();
      const proof = proofOf(value);
      if (proof === 'unreachable') since.failure = value;
      if (proof === 'reachable') open = null;
      since.awayAtMs = now();
      since.probeAtMs = since.awayAtMs + probeAfterMs;
      return value;
    } finally {
      since.isProbing = false;
    }
  }
}

/** 0 where it has not. */
function triedLast({ tries }: Open<unknown>, account: string): number {
  return tries.get(account) ?? 0;
}
