import { DEFENSE_LENGTH_MAX } from '@pixmesh/kernel/text';
import { z } from 'zod';

import { Dispute, DisputeStatus } from '../http/dispute.ts';
import { QueryId, QueryText } from '../http/query-fields.ts';
import { TEXT_WITH_CONTENT_PATTERN, textField } from '../http/text-field.ts';
import { Timestamp } from '../timestamp.ts';
import { SentBody } from './sent-body.ts';

/**
 * Disputes for operators: routes of the charges service that only the gateway calls (decision 197).
 * Codes: `DISPUTE_NOT_FOUND` 404, `DISPUTE_CLOSED` 409, `ACQUIRER_REJECTED` 422.
 */
export const OPERATOR_DISPUTE_PATHS = {
  /** GET with `ListDisputesQuery`, `limit`, `starting_after` → list of `OperatorDispute`, newest first. */
  list: '/internal/disputes',
  /** GET → `OperatorDispute`. */
  get: '/internal/disputes/:id',
  /** POST `DefenseBody` → 200 `OperatorDispute`; while the dispute is open, once. */
  defense: '/internal/disputes/:id/defense',
  /**
   * POST `SendMessageBody` → 201 `OperatorDispute`, with the replay headers: the platform's word in the chat, sent as
   * `dispute.pix.message` once for each `message_id`.
   */
  messages: '/internal/disputes/:id/messages',
} as const;

const MESSAGE_LENGTH_MAX = 2_000;

/** What the operator sends. */
export const DefenseBody = z.object({ text: words(DEFENSE_LENGTH_MAX) });
export const MessageBody = z.object({ message: words(MESSAGE_LENGTH_MAX) });

/** Kept as it is written; blanks alone say nothing, and would use up the one defense. */
function words(max: number) {
  return textField({ min: 1, max })
    .refine((text) => text.trim() !== '', { error: 'expected more than blanks' })
    .meta({ minLength: 1, maxLength: max, pattern: TEXT_WITH_CONTENT_PATTERN });
}

export const SendMessageBody = z.object({
  /** Derived from the `Idempotency-Key` and the account (decision 229), or a fresh UUIDv7 where none was sent. */
  message_id: z.uuid(),
  /** The operator's JSON object, a `MessageBody` for a message that is new; null where it could not be read as one. */
  body: SentBody,
});
export type SendMessageBody = z.output<typeof SendMessageBody>;

export const ListDisputesQuery = z.object({
  account_id: QueryId.optional(),
  charge_id: QueryId.optional(),
  status: DisputeStatus.optional(),
  end_to_end_id: QueryText.optional(),
});
export type ListDisputesQuery = z.output<typeof ListDisputesQuery>;

/** The dispute as operators see it. */
export const OperatorDispute = Dispute.omit({ message: true }).extend({
  account_id: z.uuid(),
  end_to_end_id: z.string(),
  /** The acquirer's own id of the infraction. */
  infraction_id: z.string(),
  defense: z.object({ text: z.string(), sent_at: Timestamp }).nullable(),
  messages: z.array(z.object({ message: z.string(), created_at: Timestamp })),
});
export type OperatorDispute = z.output<typeof OperatorDispute>;
