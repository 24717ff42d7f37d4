import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';

/**
 * What every message carries around its `data`. `event_id` is minted in the producer's
 * transaction; account and application are null where they are unknown.
 */
export function messageEnvelope<Type extends z.ZodType<string>, Data extends z.ZodType>(
  type: Type,
  data: Data,
) {
  return z.object({
    event_id: z.uuid(),
    type,
    version: z.literal(1),
    occurred_at: Timestamp,
    account_id: z.uuid().nullable(),
    application_id: z.uuid().nullable(),
    data,
  });
}
