import type { EndpointId } from '@pixmesh/kernel/ids';

import type { EndpointLanesDeps } from '#endpoints/create-endpoint.ts';
import type { EndpointOwner } from '#endpoints/endpoint-row.ts';
import { lockLanesToQueue, wakeLanes } from '#lanes/lanes.sql.ts';

import { clearMissedSince, findEndpointIds, findMissedSince } from './applications.sql.ts';
import { firstMissedId, queueMissedPage } from './queue-missed.sql.ts';

/** Deliveries read per commit: intake may lock the same lanes meanwhile, only a pause has to wait. */
export const MISSED_PAGE = 1_000;

/**
 * Nothing orders the topic of applications against those of resources. So events of the first moments after a
 * reactivation may have been consumed before it and are recorded as skipped. They are sent after all, each
 * page in a commit of its own; what is left is noted with the application until all of it is done, so that a process
 * that dies in between leaves it to the message when that comes again.
 */
export async function queueMissed(deps: EndpointLanesDeps, owner: EndpointOwner): Promise<void> {
  const since = await findMissedSince(deps.db, owner);
  if (since === null) return;
  for (const endpointId of await findEndpointIds(deps.db, owner)) {
    const count = await queueMissedOf(deps, { ...owner, endpointId, since });
    if (count > 0) {
      deps.wakeSenders([endpointId]);
      deps.logger.info({ endpoint_id: endpointId, count }, 'missed events queued');
    }
  }
  await clearMissedSince(deps.db, owner, since);
}

/** Ends, because from the reactivation on nothing more is skipped: it has only to catch up with intake. */
async function queueMissedOf(
  { db, clock }: EndpointLanesDeps,
  {
    accountId,
    endpointId,
    since,
  }: Pick<EndpointOwner, 'accountId'> & { endpointId: EndpointId; since: Date },
): Promise<number> {
  let total = 0;
  let after: string | null = firstMissedId(since);
  while (after !== null) {
    const page = { endpointId, since, after, limit: MISSED_PAGE };
    const { last, readCount, queuedCount } = await db.transaction(async (tx) => {
      await lockLanesToQueue(tx, [{ id: endpointId, accountId }]);
      const queued = await queueMissedPage(tx, page);
      if (queued.queuedCount > 0) await wakeLanes(tx, clock, [endpointId]);
      return queued;
    });
    total += queuedCount;
    after = readCount < MISSED_PAGE ? null : last;
  }
  return total;
}
