/** A request in flight, as Redis holds it: a member of a sorted set until its lease ends. */
type InFlight = { counter: string; requestId: string; leaseEndsMs: number };

/** Fails where Redis was not reached. */
type Remove = (counter: string, requestIds: string[]) => Promise<unknown>;

/**
 * Removes requests that have ended from those in flight. What could not be removed is kept until its lease ends, and
 * removed by `retry`: otherwise requests within the limit would be refused for a whole lease after a short break.
 */
export function createReleases(leaseMs: number, remove: Remove) {
  /** The oldest first. */
  const left = new Set<InFlight>();
  return {
    release(counter: string, requestId: string): void {
      const leaseEndsMs = performance.now() + leaseMs;
      removeOrKeep(counter, [{ counter, requestId, leaseEndsMs }]);
    },
    retry(): void {
      const byCounter = Map.groupBy(left, ({ counter }) => counter);
      left.clear();
      for (const [counter, ended] of byCounter) removeOrKeep(counter, ended);
    },
  };

  function removeOrKeep(counter: string, ended: readonly InFlight[]): void {
    const requestIds = ended.map(({ requestId }) => requestId);
    remove(counter, requestIds).catch(() => keep(ended));
  }

  function keep(ended: readonly InFlight[]): void {
    for (const one of left) {
      if (one.leaseEndsMs > performance.now()) break;
      left.delete(one);
    }
    for (const one of ended) left.add(one);
  }
}
