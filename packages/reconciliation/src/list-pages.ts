import { AppError } from '@pixmesh/kernel/app-error';

import type { Scope } from './check.ts';

/** A page is complete or unknown, never short. */
type PageOutcome<T> =
  | { kind: 'page'; items: T[]; hasMore: boolean }
  | { kind: 'unknown'; cause: string };

export type TimeWindow = { from: Date; to: Date };

/** How far back a full run goes: refunds end after 90 days (decision 76). */
const HORIZON_MS = 90 * 86_400_000;
/** One list of another system, held in memory. */
const WIDTH_MS = 86_400_000;
/** Others' clocks and ours differ, and an item shows in a list a little after its time. */
export const LIST_SKEW_MS = 900_000;

/** More pages than any window of ours has: a list that never ends is a fault of its owner. */
const PAGES_MAX = 10_000;

/**
 * Reads all pages of one window.
 * @throws AppError `DEPENDENCY_UNAVAILABLE` when one of them cannot be read: half a list compares nothing
 */
export async function listAllPages<T>(
  readPage: (page: TimeWindow & { page: number }) => Promise<PageOutcome<T>>,
  window: TimeWindow,
): Promise<T[]> {
  const items: T[] = [];
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const outcome = await readPage({ ...window, page });
    if (outcome.kind === 'unknown') {
      throw new AppError('DEPENDENCY_UNAVAILABLE', { message: `list unknown: ${outcome.cause}` });
    }
    items.push(...outcome.items);
    if (!outcome.hasMore) return items;
  }
  throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'the list does not end' });
}

/** What a run lists of another system: everything within the horizon, or what came since the watermark. */
export function windowsToList({ since }: Pick<Scope, 'since'>): TimeWindow[] {
  const now = Date.now();
  const from = since === null ? now - HORIZON_MS : since.getTime() - LIST_SKEW_MS;
  return splitWindow({ from: new Date(from), to: new Date(now + LIST_SKEW_MS) }, WIDTH_MS);
}

/**
 * The item that a look-up found, or null.
 * @throws AppError `DEPENDENCY_UNAVAILABLE` when the other side did not say
 */
export function foundOrNull<T>(
  lookup: { kind: 'found'; value: T } | { kind: 'not_found' } | { kind: 'unknown'; cause: string },
): T | null {
  if (lookup.kind === 'found') return lookup.value;
  if (lookup.kind === 'not_found') return null;
  throw new AppError('DEPENDENCY_UNAVAILABLE', { message: `look-up unknown: ${lookup.cause}` });
}

/** Windows of at most `widthMs` that cover a stretch of time, oldest first. */
export function splitWindow({ from, to }: TimeWindow, widthMs: number): TimeWindow[] {
  const windows: TimeWindow[] = [];
  for (let start = from.getTime(); start < to.getTime(); start += widthMs) {
    const end = Math.min(start + widthMs, to.getTime());
    windows.push({ from: new Date(start), to: new Date(end) });
  }
  return windows;
}
