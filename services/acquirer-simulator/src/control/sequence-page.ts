import { z } from 'zod';

const LIMIT_DEFAULT = 1_000;
const LIMIT_MAX = 100_000;

/** One page of an append-only list: what comes after a sequence number. */
export const SequencePage = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
});
export type SequencePage = z.output<typeof SequencePage>;

/** The list envelope of `/v1`, from up to one item more than the page holds. */
export function toList<T>(items: readonly T[], limit: number) {
  return { object: 'list', data: items.slice(0, limit), has_more: items.length > limit };
}
