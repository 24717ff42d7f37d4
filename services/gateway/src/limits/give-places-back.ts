/** A place in flight, as Redis holds it: a member of a sorted set until its lease ends. */
type Place = { counter: string; requestId: string; leaseEndsMs: number };

/** Fails where Redis was not reached. */
type RemovePlaces = (counter: string, requestIds: string[]) => Promise<unknown>;

/**
 * Gives the places of ended requests back. What could not be removed is kept until its lease ends, and removed by
 * `retry`: those who are within their limit would else be refused for a whole lease after a short break.
 */
export function createPlacesBack(leaseMs: number, remove: RemovePlaces) {
  /** The oldest first. */
  const left = new Set<Place>();
  return {
    give(counter: string, requestId: string): void {
      const leaseEndsMs = performance.now() + leaseMs;
      removeOrKeep(counter, [{ counter, requestId, leaseEndsMs }]);
    },
    retry(): void {
      const byCounter = Map.groupBy(left, ({ counter }) => counter);
      left.clear();
      for (const [counter, places] of byCounter) removeOrKeep(counter, places);
    },
  };

  function removeOrKeep(counter: string, places: readonly Place[]): void {
    const requestIds = places.map(({ requestId }) => requestId);
    remove(counter, requestIds).catch(() => keep(places));
  }

  function keep(places: readonly Place[]): void {
    for (const place of left) {
      if (place.leaseEndsMs > performance.now()) break;
      left.delete(place);
    }
    for (const place of places) left.add(place);
  }
}
