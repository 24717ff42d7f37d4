import { z } from 'zod';

import { EVENT_NAMES } from '../events/event-catalogue.ts';

/** Names that the catalogue has today. */
export const KnownEventName = z.enum(EVENT_NAMES);

/** Of an answer or a delivery: the catalogue may grow, and `webhook.test` is outside of it. */
export const EventNameText = z.string().meta({
  'x-extensible-enum': EVENT_NAMES,
  description: '`<resource>.<method>.<action>`. Known values: `EventName`; others may come.',
});

/** One event that the platform knows (specification, event catalog entry; no `object`, decision 230). */
export const EventCatalogueEntry = z.object({
  event: EventNameText,
  resource: z.string(),
  method: z.string(),
  action: z.string(),
  description: z.string(),
  dispatched: z.boolean().meta({
    description: 'False while the platform does not yet emit the event.',
  }),
});
export type EventCatalogueEntry = z.infer<typeof EventCatalogueEntry>;
