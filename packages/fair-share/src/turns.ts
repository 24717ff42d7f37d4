/** Places, and the order in which those who wait for one get it. Holds no clock and no promise. */
export type Turns<Item> = {
  /** Takes a place, unless all are taken. Where a caller waits none is free. */
  take(): boolean;
  /** Has an item wait behind all others of its account. */
  wait(account: string, item: Item): void;
  /** Takes an item off the list; false where it does not wait any more. */
  leave(account: string, item: Item): boolean;
  /** Ends a turn: its place goes to the item that is answered, which waits no more; null where it is free now. */
  end(): Item | null;
  /** Items of an account that wait, the oldest first. */
  waiting(account: string): ReadonlySet<Item>;
};

const NONE: ReadonlySet<never> = new Set();

/**
 * Equal turns: a place that becomes free goes to the account whose last turn is longest ago, and to its oldest item. An
 * account that begins to wait stands behind all that wait, whatever it had before: so between two turns of one account
 * each other one that waits has a turn, and an account that leaves and comes back gains nothing by it.
 */
export function createTurns<Item>(places: number): Turns<Item> {
  let taken = 0;
  /** In the order of turns; an account stands here while it waits. */
  const lines = new Map<string, Set<Item>>();
  return {
    take: () => {
      if (taken === places) return false;
      taken += 1;
      return true;
    },
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
    end: () => {
      for (const [account, line] of lines) {
        for (const item of line) {
          line.delete(item);
          lines.delete(account);
          if (line.size > 0) lines.set(account, line);
          return item;
        }
      }
      taken -= 1;
      return null;
    },
    waiting: (account) => lines.get(account) ?? NONE,
  };
}
