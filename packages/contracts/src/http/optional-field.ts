import type { z } from 'zod';

/** An optional field of a body: null and absent are the same (decision 7). */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((given): z.output<Schema> | null => given ?? null);
}

/** The same where a value stands for what is absent. */
export function orDefault<Schema extends z.ZodType>(schema: Schema, value: z.output<Schema>) {
  return schema.nullish().transform((given): z.output<Schema> => given ?? value);
}
