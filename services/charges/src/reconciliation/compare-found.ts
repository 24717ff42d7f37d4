import type { FoundBreak } from '@pixmesh/reconciliation/check';
import { foundOrNull, unreadableBreak } from '@pixmesh/reconciliation/list-pages';

/** With so many look-ups in succession without an answer the acquirer is away. */
const UNANSWERED_MAX = 20;

/**
 * Compares the items of one run that the acquirer is asked for one by one. An item whose answer cannot be read is a
 * break by itself, one without an answer is one if that lasts past the check's window, and neither hides another.
 */
export function createCompareFound() {
  let unanswered = 0;
  return compareFound;

  /** @throws AppError `DEPENDENCY_UNAVAILABLE` while the acquirer is away */
  function compareFound<T>(
    id: string,
    lookup: Parameters<typeof foundOrNull<T>>[0],
    compare: (theirs: T | null) => FoundBreak[],
  ): FoundBreak[] {
    const unreadable = unreadableBreak(id, lookup);
    const isUnanswered = lookup.kind === 'unknown' && unreadable === null;
    unanswered = isUnanswered ? unanswered + 1 : 0;
    if (unreadable !== null) return [unreadable];
    if (isUnanswered && unanswered < UNANSWERED_MAX) {
      return [{ kind: 'unavailable', id, found: lookup.cause }];
    }
    return compare(foundOrNull(lookup));
  }
}

export type CompareFound = ReturnType<typeof createCompareFound>;
