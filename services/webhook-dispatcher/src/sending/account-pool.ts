import { fourTimesFree } from '@pixmesh/fair-share/share-of-places';

/** Slots that accounts share: each may have four times as many as are free. */
export type AccountPool = {
  free(): number;
  /** Whether the account may have one more. */
  has(accountId: string): boolean;
  take(accountId: string): void;
};

/** `used`: by account. */
export function createAccountPool(size: number, used: Map<string, number>): AccountPool {
  let free = size - [...used.values()].reduce((sum, count) => sum + count, 0);
  const usedBy = (accountId: string): number => used.get(accountId) ?? 0;
  return {
    free: () => free,
    has: (accountId) => fourTimesFree(usedBy(accountId), free),
    take: (accountId) => {
      used.set(accountId, usedBy(accountId) + 1);
      free -= 1;
    },
  };
}
