import type { Queryable } from '@pixmesh/postgres/pool';

import { moveClock, readOffset } from './clock.sql.ts';

/**
 * The provider's clock: the real one plus a stored offset. Statements ask `now_()`; this is the same time for
 * code that has no statement at hand.
 */
export type Clock = {
  now(): Date;
  offsetSeconds(): number;
  /** Goes ahead, or back where negative; answers false, and stays, where that is too far. */
  advance(seconds: number): Promise<boolean>;
  /** Returns to the real time. */
  reset(): Promise<void>;
};

/** The process is the only one that moves the clock. */
export async function loadClock(db: Queryable): Promise<Clock> {
  let offsetSeconds = await readOffset(db);
  return {
    now: () => new Date(Date.now() + offsetSeconds * 1_000),
    offsetSeconds: () => offsetSeconds,
    advance: async (seconds) => await move(seconds),
    reset: async () => void (await move(null)),
  };

  async function move(seconds: number | null): Promise<boolean> {
    const moved = await moveClock(db, seconds);
    if (moved !== null) offsetSeconds = moved;
    return moved !== null;
  }
}
