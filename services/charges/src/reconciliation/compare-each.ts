import type { Lookup } from '@pixmesh/acquirer/acquirer';
import { foundOrNull } from '@pixmesh/acquirer/found-or-null';
import type { FoundBreak } from '@pixmesh/reconciliation/check';
import { unreadableBreak } from '@pixmesh/reconciliation/list-pages';

/** Items that the acquirer is asked for at once. */
const IN_FLIGHT_MAX = 8;
/** With so many look-ups of a run without an answer, in succession or in all, the acquirer is away or fails. */
const UNANSWERED_MAX = { inSuccession: 20, inAll: 100 };

/**
 * Compares the items of one run that the acquirer is asked for one by one, a few at once. An item whose answer cannot
 * be read is a break by itself, one without an answer is one if that lasts past the check's window, and neither hides
 * another.
 */
export function createCompareEach(signal: AbortSignal) {
  let inSuccession = 0;
  let inAll = 0;
  return compareEach;

  /** @throws AppError `DEPENDENCY_UNAVAILABLE` while the acquirer is away */
  async function compareEach<Ours extends { id: string }, Theirs>(
    items: readonly Ours[],
    ask: (ours: Ours) => Promise<Lookup<Theirs>>,
    compare: (ours: Ours, theirs: Theirs | null) => FoundBreak[],
  ): Promise<FoundBreak[]> {
    const breaks: FoundBreak[] = [];
    for (let start = 0; start < items.length; start += IN_FLIGHT_MAX) {
      signal.throwIfAborted();
      const found = items.slice(start, start + IN_FLIGHT_MAX).map(async (ours) => {
        const lookup = await ask(ours);
        return findUnknown(ours.id, lookup) ?? compare(ours, foundOrNull(lookup));
      });
      breaks.push(...(await Promise.all(found)).flat());
    }
    return breaks;
  }

  /** Null where the acquirer said whether it has the item, or is away. */
  function findUnknown(id: string, lookup: Lookup<unknown>): FoundBreak[] | null {
    const unreadable = unreadableBreak(id, lookup);
    const isUnanswered = lookup.kind === 'unknown' && unreadable === null;
    inSuccession = isUnanswered ? inSuccession + 1 : 0;
    if (isUnanswered) inAll += 1;
    if (unreadable !== null) return [unreadable];
    const isAway = inSuccession >= UNANSWERED_MAX.inSuccession || inAll >= UNANSWERED_MAX.inAll;
    if (isUnanswered && !isAway) {
      return [{ kind: 'unavailable', id, found: lookup.cause }];
    }
    return null;
  }
}

export type CompareEach = ReturnType<typeof createCompareEach>;
