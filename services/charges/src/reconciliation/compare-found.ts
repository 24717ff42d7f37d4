import type { FoundBreak } from '@pixmesh/reconciliation/check';
import { foundOrNull, unreadableBreak } from '@pixmesh/reconciliation/list-pages';

/**
 * The differences of one item that the acquirer was asked for by itself. An answer that cannot be read is a break of
 * that item, and hides no other.
 * @throws AppError `DEPENDENCY_UNAVAILABLE` when the acquirer did not say
 */
export function compareFound<T>(
  id: string,
  lookup: Parameters<typeof foundOrNull<T>>[0],
  compare: (theirs: T | null) => FoundBreak[],
): FoundBreak[] {
  const unreadable = unreadableBreak(id, lookup);
  return unreadable === null ? compare(foundOrNull(lookup)) : [unreadable];
}
