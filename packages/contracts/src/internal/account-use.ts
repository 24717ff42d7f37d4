import { z } from 'zod';

/** GET to the dispatcher → `AccountUse`, also for an account that it knows nothing of. */
export const ACCOUNT_USE_PATH = '/internal/accounts/:id/use';

/** What an account has at the dispatcher of that which operators may limit. */
export const AccountUse = z.object({
  endpoints: z.int().min(0),
  /** As the dispatcher knows it from `accounts.events.v1`; null: no limit. */
  deliveries_per_second_max: z.int().min(1).nullable(),
  /** Whether senders have just taken all of it. Null: no limit, or a dispatcher of an older version does not say. */
  deliveries_reached: z.boolean().nullable().default(null),
});
export type AccountUse = z.infer<typeof AccountUse>;
