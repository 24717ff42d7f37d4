import { type FoundBreak, NEVER_IN_FLIGHT } from '@pixmesh/reconciliation/check';
import { foundOrNull } from '@pixmesh/reconciliation/list-pages';

type Lookup<T> = Parameters<typeof foundOrNull<T>>[0];

/** Answers that concern the one thing that was asked for; every other unknown answer is an outage. */
const OF_ONE_ITEM: ReadonlySet<string> = new Set(['unreadable', 'foreign_code']);

/**
 * The differences of one item that the acquirer was asked for by itself. An answer that cannot be read is a break of that
 * item, and hides no other.
 * @throws AppError `DEPENDENCY_UNAVAILABLE` when the acquirer did not say
 */
export function compareFound<T>(
  id: string,
  lookup: Lookup<T>,
  compare: (theirs: T | null) => FoundBreak[],
): FoundBreak[] {
  if (lookup.kind !== 'unknown' || !OF_ONE_ITEM.has(lookup.cause)) {
    return compare(foundOrNull(lookup));
  }
  return [{ kind: 'unavailable', id, found: lookup.cause, changedAt: NEVER_IN_FLIGHT }];
}
