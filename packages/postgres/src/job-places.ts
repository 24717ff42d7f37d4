import { fourTimesFree } from '@pixmesh/fair-share/share-of-places';

/** The places of a job: a bound of the rows that it works on at the same time. */
export type JobPlaces = {
  /** Those that the next statement may ask for; `except`: it takes no rows of these accounts. */
  room(except: readonly string[]): number;
  /** Accounts that may have none of the places that are free. */
  withoutRoom(): string[];
  /** Keeps places while a statement takes rows for them, so that no other one asks for the same. */
  keepDuring<T>(places: number, take: () => Promise<T>): Promise<T>;
  begin(account: string): void;
  end(account: string): void;
};

/**
 * `leavesRoom`: an account has at most four times as many places as are free (`fourTimesFree`). Whose rows a statement
 * answers is known when they are leased: until then they may all be of the account that has most.
 */
export function createJobPlaces(max: number, { leavesRoom }: { leavesRoom: boolean }): JobPlaces {
  const held = new Map<string, number>();
  let used = 0;
  let kept = 0;
  const free = (): number => Math.max(0, max - used - kept);
  const heldBy = (account: string): number => held.get(account) ?? 0;
  return {
    room: (except) => {
      if (!leavesRoom) return free();
      const others = [...held.keys()].filter((account) => !except.includes(account));
      return roomOf(Math.max(0, ...others.map(heldBy)) + kept, free());
    },
    withoutRoom: () =>
      leavesRoom
        ? [...held.keys()].filter((account) => !fourTimesFree(heldBy(account), free()))
        : [],
    keepDuring: async (places, take) => {
      kept += places;
      try {
        return await take();
      } finally {
        kept -= places;
      }
    },
    begin: (account) => {
      used += 1;
      held.set(account, heldBy(account) + 1);
    },
    end: (account) => {
      used -= 1;
      if (heldBy(account) > 1) held.set(account, heldBy(account) - 1);
      else held.delete(account);
    },
  };
}

/** How many more an account may have that has `held`. */
function roomOf(held: number, free: number): number {
  let room = 0;
  while (fourTimesFree(held + room, free - room)) room += 1;
  return room;
}
