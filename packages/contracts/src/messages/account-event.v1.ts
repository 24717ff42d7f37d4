import { z } from 'zod';

import { TOPICS } from '../topics.ts';
import { messageEnvelope } from './message-envelope.ts';
import { defineMessage } from './message-type.ts';

/**
 * An application as it is from now on: its full state, not a delta, so that the newest version alone is enough and an
 * older one that comes later says nothing. `occurred_at` is when it became so, also when it is announced again. Key: the
 * account's id. Versions count from 1 per application.
 */
export const ApplicationChanged = defineMessage({
  topic: TOPICS.accountsEvents,
  type: 'application.changed',
  schema: messageEnvelope(
    z.literal('application.changed'),
    z.object({ application_id: z.uuid(), active: z.boolean(), version: z.int().min(1) }),
  ).extend({ account_id: z.uuid(), application_id: z.uuid() }),
});

export type ApplicationChanged = z.output<typeof ApplicationChanged.schema>;

/**
 * The limits of an account that other services apply, as they are from now on: full state, not a delta. Key: the
 * account's id. Versions count from 1 per account.
 */
export const AccountLimitsChanged = defineMessage({
  topic: TOPICS.accountsEvents,
  type: 'account.limits_changed',
  schema: messageEnvelope(
    z.literal('account.limits_changed'),
    z.object({
      /** Null: no limit. */
      deliveries_per_second_max: z.int().min(1).nullable(),
      version: z.int().min(1),
    }),
  ).extend({ account_id: z.uuid(), application_id: z.null() }),
});

export type AccountLimitsChanged = z.output<typeof AccountLimitsChanged.schema>;
