import { createPlaces } from '@pixmesh/fair-share/places';
import type { Share } from '@pixmesh/fair-share/share-of-places';

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
 * Whose rows a statement answers is known when they are leased: until then they may all be of the account that has
 * most.
 */
export function createJobPlaces(max: number, share: Share): JobPlaces {
  const places = createPlaces(max, share);
  let kept = 0;
  const free = (): number => Math.max(0, places.free() - kept);
  return {
    room: (except) => {
      const others = places.holders().filter((account) => !except.includes(account));
      return roomOf(Math.max(0, ...others.map(places.heldBy)) + kept, free());
    },
    withoutRoom: () => places.holders().filter((account) => !share(places.heldBy(account), free())),
    keepDuring: async (count, take) => {
      kept += count;
      try {
        return await take();
      } finally {
        kept -= count;
      }
    },
    begin: places.take,
    end: places.putBack,
  };

  /** How many more an account may have that has `held`. */
  function roomOf(held: number, left: number): number {
    let room = 0;
    while (share(held + room, left - room)) room += 1;
    return room;
  }
}
