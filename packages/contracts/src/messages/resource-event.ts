import { z } from 'zod';

import type { Topic } from '../topics.ts';
import { messageEnvelope } from './message-envelope.ts';
import { defineMessage } from './message-type.ts';

/** Where the deliveries of one resource go beside the registered endpoints; the secret is sealed. */
export const Destination = z.object({
  url: z.string(),
  sealed_secret: z.string().nullable(),
});
export type Destination = z.infer<typeof Destination>;

/** How a resource came to be; decides who receives it (decision 178). */
export const ResourceSource = z.enum(['api', 'dashboard', 'checkout']);
export type ResourceSource = z.infer<typeof ResourceSource>;

/**
 * One catalogue event of a charge or payout: a GET-shaped snapshot of the transaction that made the change, its
 * place among the resource's events, and where they go.
 */
function resourceEvent<Type extends string, Snapshot extends z.ZodType>(
  topic: Topic,
  type: Type,
  snapshot: Snapshot,
) {
  return defineMessage({
    topic,
    type,
    schema: messageEnvelope(z.literal<Type>(type), snapshot).extend({
      source: ResourceSource,
      sequence: z.int().min(1),
      destination: Destination.nullable(),
    }),
  });
}

/** All events of one kind of resource, by their types. */
export function resourceEvents<Type extends string, Snapshot extends z.ZodType>(
  topic: Topic,
  types: readonly Type[],
  snapshot: Snapshot,
) {
  const events = types.map((type) => [type, resourceEvent(topic, type, snapshot)]);
  return Object.fromEntries(events) as Readonly<
    Record<Type, ReturnType<typeof resourceEvent<Type, Snapshot>>>
  >;
}
