import type { FoundBreak } from './check.ts';

/** Differences of one check that are kept. With more than these something is broken as a whole. */
export const BREAKS_MAX = 1_000;

export type Kept = {
  kept: FoundBreak[];
  /** What was left out of what a run found. */
  left: 'nothing' | 'young' | 'old';
};

/**
 * What is kept of what a run found. Where there are too many, those that stop payouts come first, so that no flood of
 * others hides them. Then come the other differences, items that could not be read, and what has changed since
 * `youngFrom` and may be on its way.
 */
export function chooseKept(breaks: readonly FoundBreak[], youngFrom: Date): Kept {
  if (breaks.length <= BREAKS_MAX) return { kept: [...breaks], left: 'nothing' };
  const rankOf = (item: FoundBreak) => rank(item, youngFrom);
  const sorted = breaks.toSorted((a, b) => rankOf(a) - rankOf(b));
  const isYoungOnly = sorted.slice(BREAKS_MAX).every((item) => rankOf(item) === YOUNG);
  return { kept: sorted.slice(0, BREAKS_MAX), left: isYoungOnly ? 'young' : 'old' };
}

const YOUNG = 3;

function rank({ accountId = null, changedAt = null, kind }: FoundBreak, youngFrom: Date): number {
  if (accountId !== null) return 0;
  if (changedAt !== null && changedAt >= youngFrom) return YOUNG;
  return kind === 'unavailable' ? 2 : 1;
}
