import { AppError } from '@pixmesh/kernel/app-error';

import { type FoundBreak, NEVER_IN_FLIGHT, type Scope } from './check.ts';

/** A page is complete or unknown, never short: what of it cannot be read is named. */
type PageOutcome<T> =
  | { kind: 'page'; items: T[]; unreadable: readonly Unreadable[]; hasMore: boolean }
  | { kind: 'unknown'; cause: string };

type Unreadable = { endToEndId: string | null };

/** All pages of a window. Of an unreadable item nothing can be said, not even that it is missing. */
export type Listed<T> = { items: T[]; unreadable: Unreadable[] };

export type TimeWindow = { from: Date; to: Date };

/** How far back a full run goes: refunds end after 90 days (decision 76), and returns under the MED not much later. */
const HORIZON_MS = 120 * 86_400_000;
/**
 * How much of another system's list is asked for at once, at first and at most. Where it has little we may have much,
 * which is held in memory beside it.
 */
const WIDTH_MS = { first: 86_400_000, max: 8 * 86_400_000 };
/** A part of a list, held in memory, has so many pages at most, if it is longer than a second. */
const PART_PAGES_MAX = 20;
const PART_MS_MIN = 1_000;
/** After a part of no more pages the next one is twice as wide. */
const FEW_PAGES = 5;
/** Others' clocks and ours differ, and an item shows in a list a little after its time. */
export const LIST_SKEW_MS = 900_000;

/** More pages than any window of ours has: a list that never ends is a fault of its owner. */
const PAGES_MAX = 10_000;

/** Which page of which window; pages count from 0. */
export type ListedPage = TimeWindow & { page: number };

type ReadPage<T> = (page: ListedPage) => Promise<PageOutcome<T>>;

/**
 * Reads all pages of one window, for comparisons that need every item.
 * @throws AppError `DEPENDENCY_UNAVAILABLE` when a page or an item cannot be read: half a list compares nothing
 */
export async function listAllPages<T>(readPage: ReadPage<T>, window: TimeWindow): Promise<T[]> {
  const { items, unreadable } = await listReadablePages(readPage, window);
  if (unreadable.length === 0) return items;
  throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'items of a list cannot be read' });
}

/**
 * Reads one window in parts, oldest first, for comparisons of one item at a time. Each part is held in memory: one with
 * too many pages is halved, and after one with few pages the next is wider, so that days without items cost few calls.
 * An item at the border of two parts may be in both.
 * @throws AppError `DEPENDENCY_UNAVAILABLE` when a page cannot be read
 */
export async function* listInParts<T>(
  readPage: ReadPage<T>,
  whole: TimeWindow,
): AsyncGenerator<Listed<T> & { window: TimeWindow }> {
  let widthMs = WIDTH_MS.first;
  for (let { from } = whole; from < whole.to;) {
    const to = new Date(Math.min(from.getTime() + widthMs, whole.to.getTime()));
    const window = { from, to };
    const partMs = to.getTime() - from.getTime();
    const pagesMax = partMs <= PART_MS_MIN ? PAGES_MAX : PART_PAGES_MAX;
    const listed = await listUpTo(readPage, window, pagesMax);
    if (listed === null && pagesMax === PAGES_MAX) throw listWithoutEnd();
    if (listed === null) {
      widthMs = Math.ceil(partMs / 2);
      continue;
    }
    const { pages, ...part } = listed;
    yield { ...part, window };
    if (pages <= FEW_PAGES) widthMs = Math.min(2 * widthMs, WIDTH_MS.max);
    from = to;
  }
}

/**
 * Reads all pages of one window, for comparisons of one item at a time, which go on beside one that cannot be read.
 * @throws AppError `DEPENDENCY_UNAVAILABLE` when a page cannot be read
 */
export async function listReadablePages<T>(
  readPage: ReadPage<T>,
  window: TimeWindow,
): Promise<Listed<T>> {
  const listed = await listUpTo(readPage, window, PAGES_MAX);
  if (listed === null) throw listWithoutEnd();
  return { items: listed.items, unreadable: listed.unreadable };
}

function listWithoutEnd(): AppError {
  return new AppError('DEPENDENCY_UNAVAILABLE', { message: 'the list does not end' });
}

/** Null where the window has more pages. */
async function listUpTo<T>(
  readPage: ReadPage<T>,
  window: TimeWindow,
  pagesMax: number,
): Promise<(Listed<T> & { pages: number }) | null> {
  const listed: Listed<T> = { items: [], unreadable: [] };
  for (let page = 0; page < pagesMax; page += 1) {
    const outcome = await readPage({ ...window, page });
    if (outcome.kind === 'unknown') {
      throw new AppError('DEPENDENCY_UNAVAILABLE', { message: `list unknown: ${outcome.cause}` });
    }
    listed.items.push(...outcome.items);
    listed.unreadable.push(...outcome.unreadable);
    if (!outcome.hasMore) return { ...listed, pages: page + 1 };
  }
  return null;
}

/** One break for each Pix that could not be compared, and one under the check's own name for those without a name. */
export function unreadableBreaks(check: string, unreadable: readonly Unreadable[]): FoundBreak[] {
  const ids = new Set(unreadable.map(({ endToEndId }) => endToEndId ?? check));
  return [...ids].map((id) => ({
    kind: 'unavailable',
    id,
    found: 'unreadable',
    changedAt: NEVER_IN_FLIGHT,
  }));
}

/** What a run lists of another system: everything within the horizon, or what came since the watermark. */
export function windowToList({ since }: Pick<Scope, 'since'>): TimeWindow {
  const now = Date.now();
  const from = since === null ? now - HORIZON_MS : since.getTime() - LIST_SKEW_MS;
  return { from: new Date(from), to: new Date(now + LIST_SKEW_MS) };
}

type Lookup = { kind: 'found' | 'not_found' } | { kind: 'unknown'; cause: string };

/** Answers that concern the one item that was asked for; every other unknown answer is an outage. */
const OF_ONE_ITEM: ReadonlySet<string> = new Set(['unreadable', 'foreign_code']);

/** A break of the item itself where the answer about it cannot be read; null otherwise. */
export function unreadableBreak(id: string, lookup: Lookup): FoundBreak | null {
  if (lookup.kind !== 'unknown' || !OF_ONE_ITEM.has(lookup.cause)) return null;
  return { kind: 'unavailable', id, found: lookup.cause, changedAt: NEVER_IN_FLIGHT };
}
