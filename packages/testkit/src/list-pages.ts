type Listed = { id: string; createdAt: Date };

/** A list that never ends is a failure of its own. */
const PAGES_MAX = 1_000;

/** The order of every list: newest first, of one instant the larger id first (decision 229). */
export function newestFirst(one: Listed, other: Listed): number {
  return other.createdAt.getTime() - one.createdAt.getTime() || (one.id < other.id ? 1 : -1);
}

/** The ids of a whole list, read as clients do: each page begins after the last id of the one before. */
export async function readPages<Id extends string>(
  limit: number,
  readPage: (page: { limit: number; startingAfter: Id | null }) => Promise<readonly { id: Id }[]>,
): Promise<Id[]> {
  const seen: Id[] = [];
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await readPage({ limit, startingAfter: seen.at(-1) ?? null });
    seen.push(...page.map(({ id }) => id));
    if (page.length < limit) return seen;
  }
  throw new Error(`a list did not end within ${PAGES_MAX} pages`);
}
