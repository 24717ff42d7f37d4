import { createPlaces } from './places.ts';
import type { Share } from './share-of-places.ts';

/** Places, and the order in which those who wait for one get it. Holds no clock and no promise. */
export type Turns<Item> = {
  /** Takes a place, unless the account may have none now or has others that wait. */
  take(account: string): boolean;
  /** Has an item wait behind all others of its account. */
  wait(account: string, item: Item): void;
  /** Takes an item off the list; false where it does not wait any more. */
  leave(account: string, item: Item): boolean;
  /** Ends a turn of an account. The items that are answered have places now, and wait no more. */
  end(account: string): Item[];
  /** Items of an account that wait, the oldest first. */
  waiting(account: string): ReadonlySet<Item>;
};

const NONE: ReadonlySet<never> = new Set();

/**
 * Equal turns: a place that becomes free goes to the account whose last turn is longest ago, of those that may have one
 * more, and to its oldest item. An account that begins to wait stands behind all that wait, whatever it had before: so
 * between two turns of one account each other one that waits, and may have a place, has a turn, and an account that
 * leaves and comes back gains nothing by it.
 */
export function createTurns<Item>(size: number, share: Share): Turns<Item> {
  const places = createPlaces(size, share);
  /** In the order of turns; an account stands here while it waits. */
  const lines = new Map<string, Set<Item>>();
  return {
    // Behind its own that wait, also where its share has grown since.
    take: (account) => !lines.has(account) && take(account),
    wait: (account, item) => {
      const line = lines.get(account);
      if (line === undefined) lines.set(account, new Set([item]));
      else line.add(item);
    },
    leave: (account, item) => {
      const line = lines.get(account);
      if (line === undefined || !line.delete(item)) return false;
      if (line.size === 0) lines.delete(account);
      return true;
    },
    end: (account) => {
      places.putBack(account);
      const begin: Item[] = [];
      // More than one where the account that has ended a turn may have its place again.
      for (let item = next(); item !== null; item = next()) begin.push(item);
      return begin;
    },
    waiting: (account) => lines.get(account) ?? NONE,
  };

  function take(account: string): boolean {
    if (!places.mayTake(account)) return false;
    places.take(account);
    return true;
  }

  /** Passes over accounts that hold their share. */
  function next(): Item | null {
    if (places.free() === 0) return null;
    for (const [account, line] of lines) {
      if (!take(account)) continue;
      for (const item of line) {
        line.delete(item);
        lines.delete(account);
        if (line.size > 0) lines.set(account, line);
        return item;
      }
    }
    return null;
  }
}
