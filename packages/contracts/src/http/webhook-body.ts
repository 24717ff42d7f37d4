import { z } from 'zod';

import { EVENT_NAMES } from '../events/event-catalogue.ts';
import { orDefault, orNull } from './optional-field.ts';
import { textField } from './text-field.ts';
import { webhookUrl } from './webhook-url-field.ts';

const ENDPOINT_SECRET_LENGTH_MIN = 8;
const ENDPOINT_SECRET_LENGTH_MAX = 255;
const ENDPOINT_DESCRIPTION_LENGTH_MAX = 255;

const secret = textField({ min: ENDPOINT_SECRET_LENGTH_MIN, max: ENDPOINT_SECRET_LENGTH_MAX });
const description = textField({ max: ENDPOINT_DESCRIPTION_LENGTH_MAX });

/** A shape alone: names outside the catalogue have a code of their own (decisions 146, 147). Repeats are dropped. */
const events = z
  .array(z.string().refine((name) => name.isWellFormed()))
  .min(1)
  .transform((names) => [...new Set(names)]);

/**
 * An element that is no text, or none that has a UTF-8 form (decision 247), is a fault of the whole list: its place is
 * no field of the specification.
 */
const eventsField = z.unknown().transform((value, context): string[] => {
  const parsed = events.safeParse(value);
  if (parsed.success) return parsed.data;
  context.addIssue({ code: 'custom', message: 'expected a list of event names' });
  return z.NEVER;
});

const EVENTS_META = {
  type: 'array',
  minItems: 1,
  items: { type: 'string', enum: EVENT_NAMES },
  description:
    'Names of the catalog; an update replaces the whole list. Others are answered with `INVALID_WEBHOOK_EVENT`.',
} as const;
const URL_META = {
  description:
    'http or https on a public host, otherwise `INVALID_WEBHOOK_URL`. Two endpoints may share it.',
} as const;

/**
 * Shape of `POST /v1/webhooks`. Whether the host of `url` is public and whether the events exist is checked once the
 * shape holds (decisions 146, 150, 163).
 */
export const CreateWebhookBody = z.object({
  url: webhookUrl().meta(URL_META),
  events: eventsField.meta(EVENTS_META),
  description: orDefault(description, '').meta({ description: 'Empty when absent.' }),
  secret: orNull(secret).meta({
    description: 'Signs the deliveries; never returned. Without it they carry none.',
  }),
});
export type CreateWebhookBody = z.output<typeof CreateWebhookBody>;

/**
 * Shape of `PATCH /v1/webhooks/{id}`: absent fields stay as they are. `secret: null` removes the secret,
 * `description: null` empties it, other nulls are faults (decisions 153, 154).
 */
export const UpdateWebhookBody = z.object({
  url: webhookUrl().meta(URL_META).optional(),
  events: eventsField.meta(EVENTS_META).optional(),
  description: description
    .nullable()
    .transform((text) => text ?? '')
    .meta({ description: 'Null empties it.' })
    .optional(),
  secret: secret
    .nullable()
    .meta({ description: 'Null removes it: deliveries are not signed any more.' })
    .optional(),
  active: z.boolean().meta({ description: 'False pauses deliveries.' }).optional(),
});
export type UpdateWebhookBody = z.output<typeof UpdateWebhookBody>;
