import { z } from 'zod';

/** One event that the platform knows (specification, event catalog entry; no `object`, decision 230). */
export const EventCatalogueEntry = z.object({
  event: z.string().meta({ description: '`<resource>.<method>.<action>`.' }),
  resource: z.string(),
  method: z.string(),
  action: z.string(),
  description: z.string(),
  dispatched: z.boolean().meta({
    description: 'False while the platform does not yet emit the event.',
  }),
});
export type EventCatalogueEntry = z.infer<typeof EventCatalogueEntry>;
