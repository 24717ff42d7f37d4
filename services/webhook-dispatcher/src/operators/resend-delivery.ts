import assert from 'node:assert';

import { explained } from '@pixmesh/http/refusal';
import { AppError } from '@pixmesh/kernel/app-error';
import type { DeliveryId } from '@pixmesh/kernel/ids';

import { findDelivery } from '#deliveries/delivery-log.sql.ts';
import type { StoredDelivery } from '#deliveries/describe-deliveries.sql.ts';
import { isSendableNow } from '#deliveries/is-sendable.sql.ts';
import type { EndpointLanesDeps } from '#endpoints/create-endpoint.ts';
import { queueResends } from '#lanes/queue-resends.sql.ts';

/**
 * Queues one more attempt of a delivery, each time it is called: same id and body, the URL and the secret of then,
 * beside the schedule, whatever has become of the delivery and also while its endpoint is paused (decision 201).
 *
 * @throws AppError `NOT_FOUND`; `CONFLICT` where its endpoint is deleted
 */
export async function resendDelivery(
  deps: EndpointLanesDeps,
  id: DeliveryId,
): Promise<StoredDelivery> {
  const laneIds = await deps.db.transaction(async (tx) => {
    const queued = await queueResends(tx, deps.clock, { deliveryIds: [id], recoveryId: null });
    if (queued.length === 0) throw new AppError('NOT_FOUND');
    // Behind the lock that queueing takes: a deletion that comes now waits, an earlier one is seen.
    if (!(await isSendableNow(tx, id))) throw explained('CONFLICT', 'Its endpoint is deleted.');
    return queued.map(({ laneId }) => laneId);
  });
  deps.wakeSenders(laneIds);
  const delivery = await findDelivery(deps.db, id);
  assert(delivery, 'a delivery that was queued exists');
  return delivery;
}
