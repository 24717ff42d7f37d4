import type { Contention } from './contention.ts';

/** What an account begins within this time is one group. */
const GROUP_MS = 200;

type GroupsOptions = {
  /** How much of a group makes it a whole one, after which the account waits. */
  size: number;
  contention: Contention;
  /** An account that had to wait may begin again. */
  opened(): void;
};

/** Which accounts have begun a whole group, and wait for the end of its time. */
export type Groups = {
  /** Counts what an account begins. */
  note(account: string): void;
  mustWait(account: string): boolean;
  /** All that must. */
  waiting(): string[];
};

/**
 * Has accounts begin their work in groups, a fifth of a second apart, while others want the same. What begins together
 * shares statements and commits on all of its way, so it costs less CPU than one after the other; and between two
 * groups of one account others find the CPU free (ADR 0023). An account that is alone never waits.
 */
export function createGroups({ size, contention, opened }: GroupsOptions): Groups {
  /** What accounts have begun of their present groups. */
  const begun = new Map<string, number>();
  /** Those that were told to wait. */
  const waits = new Set<string>();
  return {
    note: (account) => {
      contention.noteCall(account);
      if (!begun.has(account)) setTimeout(() => end(account), GROUP_MS).unref();
      begun.set(account, (begun.get(account) ?? 0) + 1);
    },
    mustWait,
    waiting: () => [...begun.keys()].filter(mustWait),
  };

  function mustWait(account: string): boolean {
    const isWhole = (begun.get(account) ?? 0) >= size;
    if (!isWhole || !contention.isContended()) return false;
    waits.add(account);
    return true;
  }

  function end(account: string): void {
    begun.delete(account);
    if (waits.delete(account)) opened();
  }
}
