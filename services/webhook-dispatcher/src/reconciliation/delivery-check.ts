import { NIL_ID, parseId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { Check, FoundBreak, Scope } from '@pixmesh/reconciliation/check';
import { createWalk, type Walk } from '@pixmesh/reconciliation/walk';

import { ATTEMPTS_MAX } from '#attempts/retry-schedule.ts';
import { smallestIdOf } from '#deliveries/id-of-instant.ts';
import { wakeLanes } from '#lanes/lanes.sql.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import {
  type ComparedDelivery,
  type ComparedLane,
  type Picked,
  readDeliveries,
  readLanes,
} from './delivery-check.sql.ts';

const PAGE_SIZE = 1_000;
/** What a full run goes back, as where owners compare their events. */
const FULL_MS = 7 * 24 * 60 * 60 * 1000;

type DeliveryCheckDeps = {
  db: Database;
  clock: ScheduleClock;
  wakeSenders(laneIds: readonly string[]): void;
};

/**
 * Every pending delivery is in the queue, with attempts left, and no lane sleeps over what is due in it. A lane that
 * still does when it is compared again is woken. Both sides are read in one snapshot: there is no window.
 */
export function deliveryCheck({ db, clock, wakeSenders }: DeliveryCheckDeps): Check {
  const findLanes = (picked: Picked): Promise<ComparedLane[]> => readLanes(db, clock, picked);
  const findDeliveries = (picked: Picked): Promise<ComparedDelivery[]> =>
    readDeliveries(db, picked);
  const lanes = walkOver(findLanes, () => NIL_ID);
  const deliveries = walkOver(findDeliveries, () => smallestIdOf(Date.now() - FULL_MS));
  return { name: 'delivery', windowMs: 0, run };

  async function run(scope: Scope) {
    const breaks = new Map<string, FoundBreak>();
    let compared = 0;
    for await (const page of inScope(lanes, findLanes, scope)) {
      compared += page.length;
      for (const lane of page) if (lane.isAsleep) breaks.set(lane.id, toAsleep(lane));
    }
    await wake(scope.knownIds.filter((id) => breaks.has(id)));
    for await (const page of inScope(deliveries, findDeliveries, scope)) {
      compared += page.length;
      for (const found of page.flatMap(toBreaks)) breaks.set(found.id, found);
    }
    return { compared, breaks: [...breaks.values()] };
  }

  async function wake(laneIds: readonly string[]): Promise<void> {
    if (laneIds.length === 0) return;
    await wakeLanes(db, clock, laneIds);
    wakeSenders(laneIds);
  }
}

function walkOver<T extends { id: string }>(
  find: (picked: Picked) => Promise<T[]>,
  begin: () => string,
): Walk<T> {
  return createWalk<T>({
    read: (after, limit) => find({ after: after ?? begin(), limit }),
    idOf: ({ id }) => id,
    pageSize: PAGE_SIZE,
  });
}

/** Everything, or the next page; and what the check had found before. */
async function* inScope<T extends { id: string }>(
  walk: Walk<T>,
  find: (picked: Picked) => Promise<T[]>,
  { since, knownIds, signal }: Scope,
): AsyncGenerator<T[]> {
  yield await find({ ids: knownIds.filter((id) => parseId(id) !== null) });
  if (since !== null) yield await walk.next();
  else
    for await (const page of walk.all()) {
      signal.throwIfAborted();
      yield page;
    }
}

function toAsleep({ id }: ComparedLane): FoundBreak {
  return { kind: 'state', id, expected: 'claimable', found: 'asleep' };
}

function toBreaks({ id, isPending, attemptCount }: ComparedDelivery): FoundBreak[] {
  if (!isPending) return [];
  if (attemptCount === null) return [{ kind: 'missing_right', id, expected: 'queued' }];
  if (attemptCount < ATTEMPTS_MAX) return [];
  return [{ kind: 'sum', id, expected: String(ATTEMPTS_MAX), found: String(attemptCount) }];
}
