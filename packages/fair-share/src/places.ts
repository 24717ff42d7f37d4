import type { Share } from './share-of-places.ts';

/** Places that accounts share, and who has them. Holds no clock and no promise. */
export type Places = {
  free(): number;
  heldBy(account: string): number;
  /** Accounts that have places. */
  holders(): string[];
  /** Whether the account may have one more. */
  mayTake(account: string): boolean;
  take(account: string): void;
  putBack(account: string): void;
};

/** `held`: places that accounts have already. */
export function createPlaces(
  size: number,
  share: Share,
  held: ReadonlyMap<string, number> = new Map(),
): Places {
  /** By account, while it has some. */
  const counts = new Map(held);
  let free = size - [...counts.values()].reduce((sum, count) => sum + count, 0);
  const heldBy = (account: string): number => counts.get(account) ?? 0;
  return {
    free: () => free,
    heldBy,
    holders: () => [...counts.keys()],
    mayTake: (account) => share(heldBy(account), free),
    take: (account) => {
      counts.set(account, heldBy(account) + 1);
      free -= 1;
    },
    putBack: (account) => {
      const left = heldBy(account) - 1;
      if (left > 0) counts.set(account, left);
      else counts.delete(account);
      free += 1;
    },
  };
}
