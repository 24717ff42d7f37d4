import { z } from 'zod';

import { Limit } from './limit-field.ts';

const CountedBy = z.enum(['all_gateways', 'this_gateway']);

/** A limit, and what is used of it now; `used` is null where nothing is counted because there is no limit. */
const CountedLimit = z.object({
  max: Limit,
  used: z.int().min(0).nullable().meta({ description: 'Null while there is no limit.' }),
});

/** What is in flight is counted without a limit too, then by each gateway for itself. */
const InFlightLimit = z.object({
  max: Limit,
  used: z.int().min(0),
  counted_by: CountedBy.meta({
    description: 'Whose requests `used` counts: without a limit, those of this gateway alone.',
  }),
});

/** `GET /admin/accounts/{id}/limits`. */
export const AccountLimits = z.object({
  object: z.literal('limits'),
  account_id: z.uuid(),
  counted_by: CountedBy.meta({
    description:
      'Whose requests count against limits: this gateway alone counts while Redis is away.',
  }),
  unavailable: z.array(z.enum(['webhook-dispatcher'])).meta({
    description: 'Services that gave no answer: what only they know is null.',
  }),
  requests_per_minute: CountedLimit,
  requests_in_flight: InFlightLimit,
  endpoints: z.object({ max: Limit, used: z.int().min(0).nullable() }),
  deliveries_per_second: z.object({
    max: Limit,
    in_force: Limit.meta({ description: 'What senders of webhooks apply by now.' }),
    reached: z.boolean().nullable().meta({
      description:
        'Whether senders took all of it within the last two seconds: more waits. Null while none is in force.',
    }),
  }),
  keys: z
    .array(
      z.object({
        id: z.uuid(),
        requests_per_minute: CountedLimit,
        requests_in_flight: InFlightLimit,
      }),
    )
    .meta({ description: 'Keys with a limit of their own, newest first, at most 100.' }),
  has_more_keys: z.boolean(),
  key_default: z
    .object({ requests_max: z.int().min(1), window_seconds: z.int().min(1) })
    .nullable()
    .meta({
      description:
        'What the installation allows each key without `requests_per_minute` of its own; null: everything.',
    }),
});
export type AccountLimits = z.input<typeof AccountLimits>;
