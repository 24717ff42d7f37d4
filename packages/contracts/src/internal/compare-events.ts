import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';

/** Events of one comparison. */
export const COMPARED_EVENTS_MAX = 200;

/** POST `CompareEventsBody` to the dispatcher → `ComparedEvents`. */
export const COMPARE_EVENTS_PATH = '/internal/events/compare';

/**
 * What an owner has written to its topic of events: all of the `types` with ids above `after`, up to `until`.
 */
export const CompareEventsBody = z.object({
  after: z.uuid(),
  until: z.uuid(),
  types: z.array(z.string()).min(1),
  events: z
    .array(
      z.object({
        event_id: z.uuid(),
        type: z.string(),
        account_id: z.uuid(),
        application_id: z.uuid().nullable(),
        occurred_at: Timestamp,
        /** Whether its resource has a URL of its own. */
        has_url: z.boolean(),
      }),
    )
    .max(COMPARED_EVENTS_MAX),
});
export type CompareEventsBody = z.infer<typeof CompareEventsBody>;
export type ComparedEvent = CompareEventsBody['events'][number];

/** Where the dispatcher and the owner differ, by event id. */
export const ComparedEvents = z.object({
  /** The owner has them, they have a destination, and the dispatcher has no delivery of them. */
  missing: z.array(z.uuid()),
  /** The dispatcher has them, and the owner does not. */
  unknown: z.array(z.uuid()),
  /**
   * The intake has handled all that was published before. What was published later may be missing because it waits
   * for the intake. Null: a dispatcher of an older version does not say.
   */
  handled_until: Timestamp.nullable().default(null),
});
export type ComparedEvents = z.infer<typeof ComparedEvents>;
