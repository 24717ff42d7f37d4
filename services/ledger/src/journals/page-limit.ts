import { z } from 'zod';

/** The `limit` of a page that services read from each other: digits, from 1 to `max`, which is also the default. */
export function pageLimit(max: number) {
  return z
    .string()
    .regex(/^\d{1,4}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(max))
    .default(max);
}
