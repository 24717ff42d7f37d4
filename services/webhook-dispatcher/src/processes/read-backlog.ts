import type { Database } from '@pixmesh/postgres/pool';

import { countDueLanes, type DueLanes } from '#lanes/count-due-lanes.sql.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

/** `eventsWaiting`: messages in the topics that no intake has taken in; null while the broker does not say. */
type Backlog = DueLanes & { eventsWaiting: number | null };

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
    const [lanes, eventsWaiting] = await Promise.all([
      countDueLanes(db, { clock, leaseMs }),
      events.count(),
    ]);
    return { ...lanes, eventsWaiting };
  };
}
