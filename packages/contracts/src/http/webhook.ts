import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';
import { EventNameText } from './event-catalogue-entry.ts';

/** A registered endpoint as every route shows it (specification, webhook endpoint). The secret is never shown. */
export const Webhook = z.object({
  id: z.uuid(),
  object: z.literal('webhook'),
  url: z.string(),
  description: z.string(),
  events: z.array(EventNameText),
  active: z.boolean().meta({ description: 'False while deliveries are paused.' }),
  has_secret: z.boolean().meta({
    description: 'Whether deliveries are signed; the secret itself is never returned.',
  }),
  created_at: Timestamp,
});
export type Webhook = z.infer<typeof Webhook>;
