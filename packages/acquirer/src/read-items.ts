import type { z } from 'zod';

import type { UnreadableItem } from './acquirer.ts';
import { EndToEndId } from './answer-schemas.ts';

/** Fields at fault that are named of one item. */
const PATHS_MAX = 10;

/** The items of a page, one by one: one that cannot be read hides no other (decision 216). */
export function readItems<Item>(
  schema: z.ZodType<Item>,
  listed: readonly unknown[],
): { items: Item[]; unreadable: UnreadableItem[] } {
  const items: Item[] = [];
  const unreadable: UnreadableItem[] = [];
  for (const [position, item] of listed.entries()) {
    const read = schema.safeParse(item);
    if (read.success) items.push(read.data);
    else unreadable.push({ position, paths: pathsOf(read.error), endToEndId: pixOf(item) });
  }
  return { items, unreadable };
}

/** Only names that the schema knows can be at fault, so nothing of the answer itself shows in them. */
function pathsOf(error: z.ZodError): string[] {
  const paths = error.issues.map(({ path }) =>
    path.map((part) => (typeof part === 'number' ? '[]' : String(part))).join('.'),
  );
  return [...new Set(paths)].slice(0, PATHS_MAX);
}

function pixOf(item: unknown): string | null {
  const { data } = EndToEndId.safeParse((item as { endToEndId?: unknown } | null)?.endToEndId);
  return data ?? null;
}
