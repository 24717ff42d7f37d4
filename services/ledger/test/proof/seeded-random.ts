/** Random numbers that a seed repeats (mulberry32): what a failing run did can be done again. */
export type SeededRandom = {
  /** From 0 up to, not including, 1. */
  fraction(): number;
  /** From 0 up to, not including, `below`. */
  below(below: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** A UUID of version 7 in form; its bits come from the seed. */
  id(): string;
  shuffled<Item>(items: readonly Item[]): Item[];
};

const STEP = 0x6d_2b_79_f5;
const UINT32 = 2 ** 32;

export function seededRandom(seed: number): SeededRandom {
  let state = Math.trunc(seed) % UINT32;
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return { fraction, below, chance, pick, id, shuffled };

  function fraction(): number {
    state = (state + STEP) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / UINT32;
  }

  function chance(probability: number): boolean {
    return fraction() < probability;
  }

  function pick<Item>(items: readonly Item[]): Item {
    const item = items[below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  function id(): string {
    const hex = Array.from({ length: 32 }, () => below(16).toString(16)).join('');
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `7${hex.slice(13, 16)}`,
      `8${hex.slice(17, 20)}`,
      hex.slice(20),
    ].join('-');
  }

  function shuffled<Item>(items: readonly Item[]): Item[] {
    const order = [...items];
    for (let last = order.length - 1; last > 0; last -= 1) {
      const other = below(last + 1);
      [order[last], order[other]] = [order[other]!, order[last]!];
    }
    return order;
  }
}
