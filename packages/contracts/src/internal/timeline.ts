import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';
import { LEDGER_PAGE_MAX } from './ledger-reads.ts';

/**
 * What each service answers about one charge or payout; the gateway joins it into the timeline. The
 * ledger is asked for journals by their commands (`LookupJournalsBody`). Codes: `CHARGE_NOT_FOUND`,
 * `PAYOUT_NOT_FOUND` 404 from the owner; the others answer what they have, which may be nothing.
 */
export const TIMELINE_PATHS = {
  /** GET of charges → `OwnedTimeline`. */
  charge: '/internal/charges/:id/timeline',
  /** GET of payouts → `OwnedTimeline`. */
  payout: '/internal/payouts/:id/timeline',
  /** POST `ResourceIdsBody` to the dispatcher → `PartialTimeline`: deliveries and attempts of these resources. */
  deliveries: '/internal/timelines/deliveries',
} as const;

/** Entries that one service answers at most; a resource's life has some dozens. */
export const TIMELINE_ENTRIES_MAX = 1_000;
/** The resource itself with its refunds and disputes. */
export const TIMELINE_RESOURCES_MAX = 100;

/** In this order where two happened in the same millisecond: the cause before what it led to. */
export const TIMELINE_KINDS = ['journal', 'state', 'event', 'delivery', 'attempt'] as const;

/** One step of a resource's life. */
export const TimelineEntry = z.object({
  at: Timestamp,
  kind: z.enum(TIMELINE_KINDS),
  service: z.enum(['charges', 'payouts', 'ledger', 'webhook-dispatcher']),
  /** Of the row it is read from. */
  id: z.string(),
  /** The resource that it is a step of: the charge, one of its refunds or disputes, the payout. */
  resource_id: z.uuid(),
  /** `pending → paid`, `credit`, `charge.pix.paid`, `POST 200`: short, for people. */
  what: z.string(),
  /** Facts of the step, amounts in cents; no secrets, no personal data. */
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});
export type TimelineEntry = z.output<typeof TimelineEntry>;

export const ResourceIdsBody = z.object({
  resource_ids: z.array(z.uuid()).min(1).max(TIMELINE_RESOURCES_MAX),
});

export const PartialTimeline = z.object({
  entries: z.array(TimelineEntry).max(TIMELINE_ENTRIES_MAX),
  /** Whether there was more than the bound. */
  truncated: z.boolean(),
});
export type PartialTimeline = z.output<typeof PartialTimeline>;

/** The owner's part, and under which ids others know of it: the resource first, then its refunds and disputes. */
export const OwnedTimeline = PartialTimeline.extend({
  resource_ids: z.array(z.uuid()).min(1).max(TIMELINE_RESOURCES_MAX),
  /** Every command that may have moved money for it: the ledger has a journal of those that were sent. */
  command_ids: z.array(z.uuid()).max(LEDGER_PAGE_MAX),
});
export type OwnedTimeline = z.output<typeof OwnedTimeline>;

/** `GET /admin/charges/{id}/timeline` and `…/payouts/{id}/timeline`. */
export const Timeline = z.object({
  object: z.literal('timeline'),
  resource_id: z.uuid(),
  entries: z.array(TimelineEntry),
  truncated: z.boolean(),
});
export type Timeline = z.output<typeof Timeline>;
