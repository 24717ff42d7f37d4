import { z } from 'zod';

import { QueryText } from '../http/query-fields.ts';
import { textField } from '../http/text-field.ts';
import { Timestamp } from '../timestamp.ts';

/** Parked messages of a service, for the gateway: called for operators. */
export const DEAD_LETTER_PATHS = {
  /** GET with `DeadLetterFilters`, `limit`, `starting_after` → list of `DeadLetter`, newest first. */
  list: '/internal/dead-letters',
  /** GET → `InspectedDeadLetter`. */
  get: '/internal/dead-letters/:id',
  /** POST → 200; 404 where no such letter is open, `CONFLICT` 409 where the message is refused again. */
  replay: '/internal/dead-letters/:id/replay',
  /**
   * POST `DismissDeadLetterBody` → 200 `DeadLetter`; a repeat too, marked `Idempotent-Replayed`. `CONFLICT` 409 once
   * replayed.
   */
  dismiss: '/internal/dead-letters/:id/dismiss',
} as const;

export const DeadLetterStatus = z.enum(['open', 'replayed', 'dismissed']);
export type DeadLetterStatus = z.infer<typeof DeadLetterStatus>;

/** Filters of the list, beside paging. */
export const DeadLetterFilters = z.object({
  status: DeadLetterStatus.default('open').meta({ description: '`open` unless asked otherwise.' }),
  consumer: QueryText.optional(),
  topic: QueryText.optional(),
  key: QueryText.optional(),
  code: QueryText.optional(),
});
export type DeadLetterFilters = z.output<typeof DeadLetterFilters>;

/** A letter as its service shows it. */
export const DeadLetter = z.object({
  id: z.uuid(),
  object: z.literal('dead_letter'),
  status: DeadLetterStatus,
  consumer: z.string().meta({
    description:
      'The consumer group that could not handle it; `outbox` for an event that could not be published.',
  }),
  topic: z.string(),
  partition: z.int().meta({ description: '0 for `outbox`.' }),
  offset: z.string().meta({ description: 'For `outbox`, the place in the queue.' }),
  key: z.string().nullable(),
  code: z.string(),
  reason: z.string(),
  created_at: Timestamp,
  replayed_at: Timestamp.nullable(),
  dismissed_at: Timestamp.nullable(),
  dismissed_by: z.uuid().nullable(),
  dismissed_reason: z.string().nullable(),
});
export type DeadLetter = z.output<typeof DeadLetter>;

/** One letter with its message. Fields that never reach a log are redacted here too. */
export const InspectedDeadLetter = DeadLetter.extend({
  event_id: z.string().nullable(),
  type: z.string().nullable(),
  trace_id: z.string().nullable(),
  payload: z.unknown().meta({
    description: 'The decoded message, redacted as logs are; null where it cannot be decoded.',
  }),
  payload_bytes: z.int().min(0),
});
export type InspectedDeadLetter = z.output<typeof InspectedDeadLetter>;

const REASON_LENGTH_MAX = 500;

/** Body of `POST /admin/dead-letters/{service}/{id}/dismiss`, and of the owner's route. */
export const DismissDeadLetterBody = z.object({
  reason: textField({ min: 1, max: REASON_LENGTH_MAX }),
});
