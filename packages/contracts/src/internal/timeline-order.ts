import { TIMELINE_KINDS, type TimelineEntry } from './timeline.ts';

/**
 * Steps in the order in which they happened: by time, and within a millisecond the cause before what it led to. Stable,
 * so that entries of one instant keep the order in which they came. Texts of one precision compare as their instants
 * do.
 */
export function inOrderOfTime(steps: readonly TimelineEntry[]): TimelineEntry[] {
  return steps.toSorted((one, other) => {
    if (one.at !== other.at) return one.at < other.at ? -1 : 1;
    return TIMELINE_KINDS.indexOf(one.kind) - TIMELINE_KINDS.indexOf(other.kind);
  });
}
