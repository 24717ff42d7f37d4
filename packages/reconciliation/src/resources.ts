import { parseId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';

import { changedKeys } from './changed-keys.ts';
import type { CheckOutcome, FoundBreak, Scope } from './check.ts';
import { createSieve, createWalk } from './walk.ts';

type Resources<T> = {
  db: Queryable;
  /** Where the resources' events go: each change has one. */
  topic: string;
  pageSize: number;
  /** A page of the resources by id: of all, or of those that are young enough to be gone through. */
  read(page: { after: string | null; limit: number }): Promise<T[]>;
  find(ids: readonly string[]): Promise<T[]>;
  /** Resources that changed without an event of their own. */
  touchedSince?(since: Date): Promise<string[]>;
};

/**
 * The resources of one kind that a run has to compare, each once: all of them, or those that changed since the
 * watermark and the next page of a walk over the rest; and in either run those that the check had found, however old.
 */
export function createResources<T extends { id: string }>(
  resources: Resources<T>,
): (scope: Scope) => AsyncGenerator<T[]> {
  const { db, topic, pageSize } = resources;
  const walk = createWalk<T>({
    read: (after, limit) => resources.read({ after, limit }),
    idOf: ({ id }) => id,
    pageSize,
  });
  return (scope) => (scope.since === null ? everything(scope) : changed(scope, scope.since));

  async function* everything({ knownIds }: Scope): AsyncGenerator<T[]> {
    const notWalked = new Set(knownIds.filter(isResourceId));
    for await (const walked of walk.all()) {
      for (const { id } of walked) notWalked.delete(id);
      yield walked;
    }
    yield* find([...notWalked]);
  }

  async function* changed({ knownIds }: Scope, since: Date): AsyncGenerator<T[]> {
    const sieve = createSieve();
    // First, so that they are kept before others where there are too many.
    yield* find(sieve.fresh(knownIds.filter(isResourceId)));
    yield (await walk.next()).filter(({ id }) => sieve.isNew(id));
    yield* find(sieve.fresh((await resources.touchedSince?.(since)) ?? []));
    for await (const keys of changedKeys(db, topic, since)) yield* find(sieve.fresh(keys));
  }

  /** However many they are, a page at a time. */
  async function* find(ids: readonly string[]): AsyncGenerator<T[]> {
    for (let start = 0; start < ids.length; start += pageSize) {
      yield await resources.find(ids.slice(start, start + pageSize));
    }
  }
}

/** Other differences of a check stand under its own name. */
function isResourceId(id: string): boolean {
  return parseId(id) !== null;
}

/** Compares page after page, until its run is over. */
export async function comparePages<T>(
  pages: AsyncIterable<T[]>,
  { signal }: Pick<Scope, 'signal'>,
  compare: (page: T[]) => FoundBreak[] | Promise<FoundBreak[]>,
): Promise<CheckOutcome> {
  const breaks: FoundBreak[] = [];
  let compared = 0;
  for await (const page of pages) {
    signal.throwIfAborted();
    compared += page.length;
    breaks.push(...(await compare(page)));
  }
  return { compared, breaks };
}
