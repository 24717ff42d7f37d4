import { z } from 'zod';

import { textField } from './text-field.ts';
import { webhookUrl } from './webhook-url-field.ts';

export const ENDPOINT_SECRET_LENGTH_MIN = 8;
export const ENDPOINT_SECRET_LENGTH_MAX = 255;
export const ENDPOINT_DESCRIPTION_LENGTH_MAX = 255;

const secret = textField({ min: ENDPOINT_SECRET_LENGTH_MIN, max: ENDPOINT_SECRET_LENGTH_MAX });
const description = textField({ max: ENDPOINT_DESCRIPTION_LENGTH_MAX })
  .nullish()
  .transform((text) => text ?? '');

/** A shape alone: names outside the catalogue have a code of their own (decisions 146, 147). Repeats are dropped. */
const events = z
  .array(z.string())
  .min(1)
  .transform((names) => [...new Set(names)]);

/** An element that is no text is a fault of the whole list: its place is no field of the specification. */
const eventsField = z.unknown().transform((value, context): string[] => {
  const parsed = events.safeParse(value);
  if (parsed.success) return parsed.data;
  context.addIssue({ code: 'custom', message: 'expected a list of event names' });
  return z.NEVER;
});

/**
 * Shape of `POST /v1/webhooks`. Whether the host of `url` is public and whether the events exist is judged once the
 * shape holds (decisions 146, 150, 163).
 */
export const CreateWebhookBody = z.object({
  url: webhookUrl(),
  events: eventsField,
  description,
  secret: secret.nullish().transform((text) => text ?? null),
});
export type CreateWebhookBody = z.output<typeof CreateWebhookBody>;

/**
 * Shape of `PATCH /v1/webhooks/{id}`: absent fields stay as they are. `secret: null` removes the secret,
 * `description: null` empties it, other nulls are faults (decisions 153, 154).
 */
export const UpdateWebhookBody = z.object({
  url: webhookUrl().optional(),
  events: eventsField.optional(),
  description: textField({ max: ENDPOINT_DESCRIPTION_LENGTH_MAX })
    .nullable()
    .transform((text) => text ?? '')
    .optional(),
  secret: secret.nullable().optional(),
  active: z.boolean().optional(),
});
export type UpdateWebhookBody = z.output<typeof UpdateWebhookBody>;
