import { z } from 'zod';

import { Limit } from './limit-field.ts';

/** A limit, and what is used of it now; `used` is null where nothing is counted because there is no limit. */
const CountedLimit = z.object({
  max: Limit,
  used: z.int().min(0).nullable().meta({ description: 'Null while there is no limit.' }),
});

/** `GET /admin/accounts/{id}/limits`. */
export const AccountLimits = z.object({
  object: z.literal('limits'),
  account_id: z.uuid(),
  counted_by: z.enum(['all_gateways', 'this_gateway']).meta({
    description: 'Whose requests are counted: this gateway alone counts while Redis is away.',
  }),
  requests_per_minute: CountedLimit,
  requests_in_flight: CountedLimit,
  endpoints: z.object({ max: Limit, used: z.int().min(0) }),
  deliveries_per_second: z.object({
    max: Limit,
    in_force: Limit.meta({ description: 'What senders of webhooks apply by now.' }),
  }),
  keys: z
    .array(
      z.object({
        id: z.uuid(),
        requests_per_minute: CountedLimit,
        requests_in_flight: CountedLimit,
      }),
    )
    .meta({ description: 'Keys with a limit of their own, newest first, at most 100.' }),
  has_more_keys: z.boolean(),
});
export type AccountLimits = z.input<typeof AccountLimits>;
