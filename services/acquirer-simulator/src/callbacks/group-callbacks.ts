import type { ClaimedCallback } from './callbacks.sql.ts';
import { NOTICE_ITEMS_MAX, toCallbackBody } from './plan-callbacks.ts';

/** Queued notices that go out as one POST; each of them is noted by itself. */
export type CallbackGroup = { url: string; body: string; callbacks: readonly ClaimedCallback[] };

type Item = { endToEndId?: string };
type Open = { callbacks: ClaimedCallback[]; items: Item[]; names: Set<string> };

/**
 * Puts notices together that are due at the same moment to the same URL, as API Pix does, in the order of their
 * queueing. One notice names a Pix once: a repeated announcement goes out by itself.
 */
export function groupCallbacks(claimed: readonly ClaimedCallback[]): CallbackGroup[] {
  const groups: Open[] = [];
  for (const callback of claimed.toSorted((a, b) => Number(a.id - b.id))) {
    const { pix: items } = JSON.parse(callback.body) as { pix: Item[] };
    const names = items.flatMap(({ endToEndId }) => endToEndId ?? []);
    const group = groups.find((open) => hasPlace(open, callback, { items, names }));
    if (group === undefined) {
      groups.push({ callbacks: [callback], items, names: new Set(names) });
    } else {
      group.callbacks.push(callback);
      group.items.push(...items);
      for (const name of names) group.names.add(name);
    }
  }
  return groups.map(({ callbacks, items }) => {
    const [first] = callbacks as [ClaimedCallback];
    const body = callbacks.length === 1 ? first.body : toCallbackBody(items);
    return { url: first.url, body, callbacks };
  });
}

function hasPlace(
  group: Open,
  callback: ClaimedCallback,
  wanted: { items: readonly Item[]; names: readonly string[] },
): boolean {
  const [first] = group.callbacks as [ClaimedCallback];
  if (callback.alone || first.alone || first.url !== callback.url) return false;
  if (group.items.length + wanted.items.length > NOTICE_ITEMS_MAX) return false;
  return !wanted.names.some((name) => group.names.has(name));
}
