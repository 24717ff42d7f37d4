/** Items that wait for one that takes some at a time, in equal turns by account. Holds no clock and no promise. */
export type Laps<Item> = {
  /** Has an item wait behind all others of its account. */
  add(account: string, item: Item): void;
  /**
   * At most so many: one of each account that waits, then a second one of each, an account's own in their order. The
   * next ones go on behind the account that had the last turn.
   */
  take(count: number): Item[];
  size(): number;
};

export function createLaps<Item>(): Laps<Item> {
  /** In the order of turns; an account stands here while something of it waits. */
  const lines = new Map<string, Item[]>();
  let size = 0;
  return {
    add: (account, item) => {
      const line = lines.get(account);
      if (line === undefined) lines.set(account, [item]);
      else line.push(item);
      size += 1;
    },
    take,
    size: () => size,
  };

  function take(count: number): Item[] {
    const taken: Item[] = [];
    // An account that is put back stands behind all others, and comes again here.
    for (const [account, line] of lines) {
      if (taken.length >= count) break;
      taken.push(line.shift() as Item);
      lines.delete(account);
      if (line.length > 0) lines.set(account, line);
    }
    size -= taken.length;
    return taken;
  }
}
