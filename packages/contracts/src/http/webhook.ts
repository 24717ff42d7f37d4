import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';

/** A registered endpoint as every route shows it (specification, webhook endpoint). The secret is never shown. */
export const Webhook = z.object({
  id: z.uuid(),
  object: z.literal('webhook'),
  url: z.string(),
  description: z.string(),
  events: z.array(z.string()),
  active: z.boolean(),
  has_secret: z.boolean(),
  created_at: Timestamp,
});
export type Webhook = z.infer<typeof Webhook>;
