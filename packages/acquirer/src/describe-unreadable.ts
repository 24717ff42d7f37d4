import type { UnreadableItem } from './acquirer.ts';

/** Items of one page that a log line names. */
const ITEMS_MAX = 20;

/** Fields of a log line about the unreadable items of a page: where they stand, and what is at fault, never ids. */
export function describeUnreadable(page: number, unreadable: readonly UnreadableItem[]): object {
  const items = unreadable.slice(0, ITEMS_MAX).map(({ position, paths }) => ({ position, paths }));
  return { page, unreadable: unreadable.length, items };
}
