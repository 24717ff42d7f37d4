import {
  type PartialTimeline,
  ResourceIdsBody,
  TIMELINE_ENTRIES_MAX,
  TIMELINE_PATHS,
} from '@pixmesh/contracts/internal/timeline';
import { readBody } from '@pixmesh/http/json-request';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { readTimeline } from './timeline.sql.ts';
import { toTimelineEntry } from './to-timeline-entry.ts';

/** Part of the timeline of a charge or payout: its deliveries and their attempts. */
export function registerTimeline(app: FastifyInstance, { db }: { db: Database }): void {
  app.post(TIMELINE_PATHS.deliveries, async (request): Promise<PartialTimeline> => {
    const { resource_ids: ids } = readBody(ResourceIdsBody, request);
    // One more than is shown, to see whether there are more.
    const steps = await readTimeline(db, [...new Set(ids)], TIMELINE_ENTRIES_MAX + 1);
    return {
      entries: steps.slice(0, TIMELINE_ENTRIES_MAX).map(toTimelineEntry),
      truncated: steps.length > TIMELINE_ENTRIES_MAX,
    };
  });
}
