import { z } from 'zod';

/** The envelope of every list (specification, General conventions). */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() });
}
