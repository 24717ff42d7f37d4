import type { PartialTimeline, Timeline } from '@pixmesh/contracts/internal/timeline';
import { inOrderOfTime } from '@pixmesh/contracts/internal/timeline-order';

/**
 * The parts of all services in one order: by time, and within a millisecond the cause before what it led to. What a
 * service lists in its own order stays in that order, so a step is never before the one that it follows from.
 */
export function joinTimelines(resourceId: string, parts: readonly PartialTimeline[]): Timeline {
  return {
    object: 'timeline',
    resource_id: resourceId,
    entries: inOrderOfTime(parts.flatMap(({ entries }) => entries)),
    truncated: parts.some(({ truncated }) => truncated),
  };
}
