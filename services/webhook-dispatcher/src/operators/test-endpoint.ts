import assert from 'node:assert';

import { TEST_EVENT } from '@pixmesh/contracts/internal/operator-deliveries';
import { AppError } from '@pixmesh/kernel/app-error';
import { type EndpointId, newId } from '@pixmesh/kernel/ids';

import { buildBodyRest } from '#deliveries/build-body.ts';
import { deliveryIdOf } from '#deliveries/delivery-id-of.ts';
import { findDelivery } from '#deliveries/delivery-log.sql.ts';
import type { StoredDelivery } from '#deliveries/describe-deliveries.sql.ts';
import type { EndpointLanesDeps } from '#endpoints/create-endpoint.ts';
import { toEndpointResource } from '#endpoints/endpoint-resource.ts';
import type { EndpointOwner } from '#endpoints/endpoint-row.ts';
import { findEndpoint } from '#endpoints/endpoints.sql.ts';
import { lockLanesToQueue, wakeLanes } from '#lanes/lanes.sql.ts';

import { insertTest } from './insert-test.sql.ts';

/**
 * Queues a delivery whose data is the endpoint itself, stored and signed as all others are. One attempt, made also
 * while the endpoint is paused; its outcome ends the delivery.
 *
 * @throws AppError `WEBHOOK_NOT_FOUND`
 */
export async function testEndpoint(
  deps: EndpointLanesDeps,
  owner: EndpointOwner,
  id: EndpointId,
): Promise<StoredDelivery> {
  const eventId = newId();
  const deliveryId = deliveryIdOf(eventId, id);
  const queued = await deps.db.transaction(async (tx) => {
    await lockLanesToQueue(tx, [{ id, accountId: owner.accountId }]);
    // Behind the lock, so that it is not deleted before the commit.
    const endpoint = await findEndpoint(tx, owner, id);
    if (endpoint === null) throw new AppError('WEBHOOK_NOT_FOUND');
    const assembledAt = new Date();
    const data = toEndpointResource(endpoint);
    const bodyRest = buildBodyRest({ event: TEST_EVENT, assembledAt, data });
    const test = { eventId, deliveryId, endpointId: id, assembledAt, bodyRest };
    await insertTest(tx, deps.clock, { ...owner, ...test });
    await wakeLanes(tx, deps.clock, [id]);
    return await findDelivery(tx, deliveryId);
  });
  assert(queued, 'a test that is queued is stored');
  deps.wakeSenders([id]);
  return queued;
}
