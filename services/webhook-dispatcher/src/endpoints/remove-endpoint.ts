import { AppError } from '@pixmesh/kernel/app-error';
import type { EndpointId } from '@pixmesh/kernel/ids';

import { cancelLanes } from '#lanes/cancel-lanes.sql.ts';
import { lockLanesToChange, wakeLanes } from '#lanes/lanes.sql.ts';

import type { EndpointLanesDeps } from './create-endpoint.ts';
import type { EndpointOwner } from './endpoint-row.ts';
import { deleteEndpoint, findEndpoint } from './endpoints.sql.ts';

/** Part of a request that may go by with it; less than its caller waits. */
const CANCEL_MS_MAX = 3_000;

/**
 * Deletes an endpoint and cancels what waits for it (decision 158). From the first commit on no sender sends
 * anything to it; senders cancel what waits in its lane as well, so the second step may be cut short anywhere.
 *
 * @throws AppError `WEBHOOK_NOT_FOUND`, also the second time
 */
export async function removeEndpoint(
  deps: EndpointLanesDeps,
  owner: EndpointOwner,
  id: EndpointId,
): Promise<void> {
  // First, so that no caller can lock the lane of another application's endpoint.
  if ((await findEndpoint(deps.db, owner, id)) === null) throw new AppError('WEBHOOK_NOT_FOUND');
  const isDeleted = await deps.db.transaction(async (tx) => {
    await lockLanesToChange(tx, [id]);
    if (!(await deleteEndpoint(tx, owner, id))) return false;
    await wakeLanes(tx, deps.clock, [id]);
    return true;
  });
  if (!isDeleted) throw new AppError('WEBHOOK_NOT_FOUND');
  await cancelWaiting(deps, id);
  deps.wakeSenders([id]);
}

/** A database that goes away meanwhile does not undo the answer: the endpoint is deleted. */
async function cancelWaiting({ db, logger }: EndpointLanesDeps, id: EndpointId): Promise<void> {
  const end = performance.now() + CANCEL_MS_MAX;
  try {
    while ((await cancelLanes(db, [id])) > 0 && performance.now() < end);
  } catch (error) {
    logger.warn({ err: error, endpoint_id: id }, 'deliveries of deleted endpoint not canceled');
  }
}
