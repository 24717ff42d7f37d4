/**
 * An account may have so many times as many slots as are free. So one alone has four fifths of all, two have four
 * ninths each, and the next one finds some: slots are held for as long as receivers take to answer, and who is served
 * next does not matter to one who finds none. As sends end, accounts above what is theirs by now take no further ones.
 * [The dynamic thresholds of shared-memory switches: Choudhury and Hahne, 1998.]
 */
const FREE_MULTIPLE = 4;

/** Slots that accounts share. */
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
    has: (accountId) => usedBy(accountId) < FREE_MULTIPLE * free,
    take: (accountId) => {
      used.set(accountId, usedBy(accountId) + 1);
      free -= 1;
    },
  };
}
