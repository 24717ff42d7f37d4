import type { Database } from '@pixmesh/postgres/pool';

import type { Backlog } from '#reports.ts';
import { countSetAside } from '#intake/count-set-aside.sql.ts';
import { countDueLanes } from '#lanes/count-due-lanes.sql.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

export type ReadBacklog = () => Promise<Backlog>;

type BacklogDeps = {
  db: Database;
  clock: ScheduleClock;
  leaseMs: number;
  events: { count(): Promise<number | null> };
};

/**
 * What waits to be delivered. Asked of the database and the broker, so that any process answers it alike, whether or
 * not an intake or a sender lives.
 */
export function createBacklogReader({ db, clock, leaseMs, events }: BacklogDeps): ReadBacklog {
  return async () => {
    const [lanes, eventsWaiting, setAside] = await Promise.all([
      countDueLanes(db, { clock, leaseMs }),
      events.count(),
      countSetAside(db),
    ]);
    return { ...lanes, eventsWaiting, setAside };
  };
}
