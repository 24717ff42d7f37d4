import { isDispatched } from '@pixmesh/contracts/events/event-catalogue';
import { systemClock } from '@pixmesh/kernel/clock';
import type { Database } from '@pixmesh/postgres/pool';

import { createAccountsBehind } from '#intake/accounts-behind.ts';
import { createIntake, type IntakeDeps } from '#intake/intake.ts';
import type { ResourceEvent } from '#intake/read-event.ts';
import type { LocalSender } from '#intake/store-events.ts';
import { databaseClock } from '#schedule-clock.ts';

/** Owns every lane, and begins nothing before a turn. */
export const OWNS_ALL: LocalSender = {
  serves: () => true,
  prepareSends: () => (queued) => queued.map(({ laneId }) => laneId),
};

/** Stores events as the role `intake` does: those that are given at once may share a batch. */
export async function take(
  db: Database,
  events: ResourceEvent | readonly ResourceEvent[],
  seams: Partial<Omit<IntakeDeps, 'db'>> = {},
): Promise<void> {
  const intake = createIntake({
    db,
    clock: systemClock,
    scheduleClock: databaseClock,
    isDispatched,
    wakeSenders: () => undefined,
    sender: null,
    behind: createAccountsBehind({ notify: () => undefined }),
    ...seams,
  });
  await Promise.all([events].flat().map((event) => intake.take(event)));
}
