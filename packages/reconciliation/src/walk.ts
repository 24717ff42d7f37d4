/** Goes over all items of a table, page by page. */
export type Walk<T> = {
  /** Every page, from the first item to the last. */
  all(): AsyncGenerator<T[]>;
  /** The page after that of the call before; after the last page it begins again. */
  next(): Promise<T[]>;
};

type Pages<T> = {
  /** Items behind `after` in the order of their ids; null begins. */
  read(after: string | null, limit: number): Promise<T[]>;
  idOf(item: T): string;
  pageSize: number;
};

/**
 * A full run takes `all`. An incremental run takes `next` beside what changed: what nobody has touched for long is
 * compared again too, a bounded part each time, and a small table is seen whole by every run.
 */
export function createWalk<T>(pages: Pages<T>): Walk<T> {
  let position: string | null = null;
  return {
    all: async function* all() {
      for (let after: string | null = null; ;) {
        const items: T[] = await pages.read(after, pages.pageSize);
        yield items;
        if (items.length < pages.pageSize) return;
        after = lastIdOf(items);
      }
    },
    next: async () => {
      const items = await pages.read(position, pages.pageSize);
      position = items.length < pages.pageSize ? null : lastIdOf(items);
      return items;
    },
  };

  function lastIdOf(items: readonly T[]): string | null {
    const last = items.at(-1);
    return last === undefined ? null : pages.idOf(last);
  }
}

/** A sieve holds the last of the ids that it was given, as many as this or twice as many. */
const SIEVE_MAX = 100_000;

/** What several ways lead to is compared once. */
type Sieve = {
  /** Whether no earlier call was given the id. */
  isNew(id: string): boolean;
  /** Those of the ids that no earlier call was given. */
  fresh(ids: readonly string[]): string[];
};

export function createSieve(): Sieve {
  let former = new Set<string>();
  let seen = new Set<string>();
  return { isNew, fresh: (ids) => ids.filter(isNew) };

  function isNew(id: string): boolean {
    if (seen.has(id) || former.has(id)) return false;
    if (seen.size >= SIEVE_MAX) [former, seen] = [seen, new Set()];
    seen.add(id);
    return true;
  }
}
