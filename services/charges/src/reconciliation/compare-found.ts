import type { FoundBreak } from '@pixmesh/reconciliation/check';
import { foundOrNull, unreadableBreak } from '@pixmesh/reconciliation/list-pages';

/** With so many look-ups of a run without an answer, in succession or in all, the acquirer is away or fails. */
const UNANSWERED_MAX = { inSuccession: 20, inAll: 100 };

/**
 * Compares the items of one run that the acquirer is asked for one by one. An item whose answer cannot be read is a
 * break by itself, one without an answer is one if that lasts past the check's window, and neither hides another.
 */
export function createCompareFound() {
  let inSuccession = 0;
  let inAll = 0;
  return compareFound;

  /** @throws AppError `DEPENDENCY_UNAVAILABLE` while the acquirer is away */
  function compareFound<T>(
    id: string,
    lookup: Parameters<typeof foundOrNull<T>>[0],
    compare: (theirs: T | null) => FoundBreak[],
  ): FoundBreak[] {
    const unreadable = unreadableBreak(id, lookup);
    const isUnanswered = lookup.kind === 'unknown' && unreadable === null;
    inSuccession = isUnanswered ? inSuccession + 1 : 0;
    if (isUnanswered) inAll += 1;
    if (unreadable !== null) return [unreadable];
    const isAway = inSuccession >= UNANSWERED_MAX.inSuccession || inAll >= UNANSWERED_MAX.inAll;
    if (isUnanswered && !isAway) {
      return [{ kind: 'unavailable', id, found: lookup.cause }];
    }
    return compare(foundOrNull(lookup));
  }
}

export type CompareFound = ReturnType<typeof createCompareFound>;
