import { z } from 'zod';

import { isEventName } from '../events/event-catalogue.ts';
import { InstantText, UpperInstantText } from '../http/instant-text.ts';
import { orNull } from '../http/optional-field.ts';
import { QueryId, QueryText } from '../http/query-fields.ts';
import { Webhook } from '../http/webhook.ts';
import { Timestamp } from '../timestamp.ts';
import { AnyCaseId } from './id-fields.ts';
import { SentBody } from './sent-body.ts';

/**
 * Endpoints, deliveries and recoveries for operators: routes of the dispatcher that only the gateway calls. Who
 * acts stands in its claims.
 *
 * Codes beside `VALIDATION_ERROR`: `WEBHOOK_NOT_FOUND`, `NOT_FOUND` 404; `CONFLICT` 409 where nothing can be sent any
 * more (the endpoint is deleted) and for a recovery that is over.
 */
export const OPERATOR_DELIVERY_PATHS = {
  /** GET → list of `OperatorWebhook`, all of them, newest first; the application is the gateway's to know. */
  listWebhooks: '/internal/applications/:id/webhooks',
  /** GET → `OperatorWebhook`. */
  getWebhook: '/internal/operator-webhooks/:id',
  /** POST `ChangeWebhookBody` → 200 `OperatorWebhook`. */
  changeWebhook: '/internal/operator-webhooks/:id/change',
  /** POST → 202 `OperatorDelivery`: a test delivery, of the event `webhook.test`. */
  testWebhook: '/internal/operator-webhooks/:id/test',
  /** GET with `ListDeliveriesQuery`, `limit`, `starting_after` → list of `OperatorDelivery`, newest first. */
  listDeliveries: '/internal/operator-deliveries',
  /** GET → `OperatorDelivery`. */
  getDelivery: '/internal/operator-deliveries/:id',
  /** POST → 202 `OperatorDelivery`; sends each time it is called (decision 201). */
  resend: '/internal/operator-deliveries/:id/resend',
  /** POST `RequestRecoveryBody` → 201 `Recovery`, with the replay headers of `/v1`. */
  requestRecovery: '/internal/recoveries',
  /** GET with `ListRecoveriesQuery`, `limit`, `starting_after` → list of `Recovery`, newest first. */
  listRecoveries: '/internal/recoveries',
  /** GET → `Recovery`. */
  getRecovery: '/internal/recoveries/:id',
  /** POST → 200 `Recovery`; a repeat too. */
  cancelRecovery: '/internal/recoveries/:id/cancel',
} as const;

/** What a test delivery announces; no resource is behind it, and no endpoint can subscribe to it. */
export const TEST_EVENT = 'webhook.test';

export const ChangeWebhookBody = z.object({ body: SentBody });
export type ChangeWebhookBody = z.output<typeof ChangeWebhookBody>;

/** How an endpoint does, counted with every attempt. */
const WebhookHealth = z.object({
  attempts_succeeded: z.int().min(0),
  attempts_failed: z.int().min(0),
  last_success_at: Timestamp.nullable(),
  last_failure_at: Timestamp.nullable(),
  /** The first failure since the last success; null while it does well. */
  failing_since: Timestamp.nullable(),
  /** True while it is tried with one delivery at a time, because nothing but failures came back. */
  breaker_open: z.boolean(),
  /** Attempts that wait, due or not, up to 1,000, and since when the oldest of them is due; null while none is. */
  waiting: z.int().min(0),
  oldest_due_at: Timestamp.nullable(),
});

/** The endpoint as `/v1` shows it, whose it is, and how it does. */
export const OperatorWebhook = Webhook.extend({
  account_id: z.uuid(),
  application_id: z.uuid(),
  /** When its secret was last set, replaced or removed; null where it never was, or that was not kept yet. */
  secret_changed_at: Timestamp.nullable(),
  health: WebhookHealth,
});
export type OperatorWebhook = z.output<typeof OperatorWebhook>;

export const DeliveryStatus = z.enum(['pending', 'succeeded', 'failed', 'skipped', 'canceled']);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** One request that was made, or refused before it was made. */
export const DeliveryAttempt = z.object({
  number: z.int().min(1),
  started_at: Timestamp,
  duration_ms: z.int().min(0),
  outcome: z.enum(['succeeded', 'failed']),
  status: z.int().nullable(),
  /** `<kind>: <text>`; null when it succeeded. */
  error: z.string().nullable(),
  /** At most the first 16 KiB of the answer; null where there was none, and before the newest 32 attempts. */
  response_excerpt: z.string().nullable(),
  address: z.string().nullable(),
  manual: z.boolean(),
});
export type DeliveryAttempt = z.output<typeof DeliveryAttempt>;

/** A delivery with its attempts, the newest 1,000 of them. */
export const OperatorDelivery = z.object({
  id: z.uuid(),
  object: z.literal('delivery'),
  account_id: z.uuid(),
  event: z.string(),
  event_id: z.uuid(),
  resource_id: z.uuid(),
  /** Null for the URL of a resource. */
  endpoint_id: z.uuid().nullable(),
  url: z.string(),
  status: DeliveryStatus,
  next_attempt_at: Timestamp.nullable(),
  created_at: Timestamp,
  attempts: z.array(DeliveryAttempt),
});
export type OperatorDelivery = z.output<typeof OperatorDelivery>;

const EVENT_EXPECTED = 'expected the name of an event of the catalog';

const EventFilter = QueryText.refine((name) => name === TEST_EVENT || isEventName(name), {
  error: EVENT_EXPECTED,
});

/** Filters of the delivery log, beside paging. Times are those of the events. */
export const ListDeliveriesQuery = z.object({
  account_id: QueryId.optional(),
  resource_id: QueryId.optional(),
  endpoint_id: QueryId.optional(),
  event: EventFilter.optional(),
  status: DeliveryStatus.optional(),
  created_after: InstantText.optional(),
  created_before: UpperInstantText.optional(),
});
export type ListDeliveriesQuery = z.output<typeof ListDeliveriesQuery>;

/** Deliveries per second that a recovery puts beside the usual ones. */
const RECOVERY_RATE_DEFAULT = 50;
const RECOVERY_RATE_MAX = 1_000;

const INSTANT_EXPECTED = 'expected a date and time with Z or an offset';
const BodyInstant = z
  .string({ error: INSTANT_EXPECTED })
  .refine((text) => z.iso.datetime({ offset: true }).safeParse(text).success, {
    error: INSTANT_EXPECTED,
  })
  .transform((text) => new Date(text));

/** Body of `POST /admin/recoveries`: which deliveries of which time are sent again, and how fast. */
export const CreateRecoveryBody = z.object({
  account_id: AnyCaseId,
  application_id: orNull(AnyCaseId),
  endpoint_id: orNull(AnyCaseId),
  event: orNull(z.string().refine(isEventName, { error: EVENT_EXPECTED })),
  /** What has not arrived, unless asked otherwise. */
  statuses: z
    .array(z.enum(['failed', 'skipped', 'canceled', 'succeeded']))
    .min(1)
    .default(['failed', 'skipped']),
  created_from: BodyInstant,
  created_until: BodyInstant,
  rate_per_second: z.int().min(1).max(RECOVERY_RATE_MAX).default(RECOVERY_RATE_DEFAULT),
});
export type CreateRecoveryBody = z.output<typeof CreateRecoveryBody>;

/** `recovery_id`: derived from the `Idempotency-Key` and the account, or fresh where none was sent (decision 229). */
export const RequestRecoveryBody = z.object({
  recovery_id: z.uuid(),
  body: SentBody,
});
export type RequestRecoveryBody = z.output<typeof RequestRecoveryBody>;

/** `running` while it looks for deliveries, `sending` while those it found go out. */
const RecoveryStatus = z.enum(['running', 'sending', 'completed', 'canceled']);

/** A stored job. */
export const Recovery = z.object({
  id: z.uuid(),
  object: z.literal('recovery'),
  account_id: z.uuid(),
  application_id: z.uuid().nullable(),
  endpoint_id: z.uuid().nullable(),
  event: z.string().nullable(),
  statuses: z.array(z.string()),
  created_from: Timestamp,
  created_until: Timestamp,
  rate_per_second: z.int(),
  status: RecoveryStatus,
  queued: z.int().min(0),
  succeeded: z.int().min(0),
  failed: z.int().min(0),
  created_at: Timestamp,
  ended_at: Timestamp.nullable(),
});
export type Recovery = z.output<typeof Recovery>;

/** Filters of the list of recoveries, beside paging. Times are those at which they were asked for. */
export const ListRecoveriesQuery = z.object({
  account_id: QueryId.optional(),
  application_id: QueryId.optional(),
  endpoint_id: QueryId.optional(),
  event: QueryText.refine(isEventName, { error: EVENT_EXPECTED }).optional(),
  status: RecoveryStatus.optional(),
  created_after: InstantText.optional(),
  created_before: UpperInstantText.optional(),
});
export type ListRecoveriesQuery = z.output<typeof ListRecoveriesQuery>;
