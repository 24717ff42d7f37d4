const PERIOD_MS = 1_000;

export type RecentCalls = {
  note(account: string): void;
  /** How many an account has made in this second or in the one before, whichever is more. */
  perSecond(account: string): number;
};

/** Counts calls by account and second; counts nothing that is older than two seconds. */
export function createRecentCalls(): RecentCalls {
  let counts = new Map<string, number>();
  let former = new Map<string, number>();
  let period = 0;
  return {
    note: (account) => {
      startPeriod();
      counts.set(account, (counts.get(account) ?? 0) + 1);
    },
    perSecond: (account) => {
      startPeriod();
      return Math.max(counts.get(account) ?? 0, former.get(account) ?? 0);
    },
  };

  function startPeriod(): void {
    const now = Math.floor(performance.now() / PERIOD_MS);
    if (now === period) return;
    former = now === period + 1 ? counts : new Map();
    counts = new Map();
    period = now;
  }
}
