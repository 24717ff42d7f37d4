import { AppError } from '@pixmesh/kernel/app-error';
import type { EndpointId } from '@pixmesh/kernel/ids';

import type { EndpointOwner } from './endpoint-row.ts';
import { deleteEndpoint } from './endpoints.sql.ts';
import { sweepDeliveries, type SweepDeps } from './sweep-deliveries.ts';
import { cancelWaiting } from './waiting-deliveries.sql.ts';

/**
 * Deletes an endpoint and cancels what waits for it (decision 158). From the first commit on no sender takes anything
 * up for it, so the second step may be cut short anywhere.
 *
 * @throws AppError `WEBHOOK_NOT_FOUND`, also the second time
 */
export async function removeEndpoint(
  deps: SweepDeps,
  owner: EndpointOwner,
  id: EndpointId,
): Promise<void> {
  if (!(await deleteEndpoint(deps.db, owner, id))) throw new AppError('WEBHOOK_NOT_FOUND');
  await sweepDeliveries(deps, { step: cancelWaiting, owner, endpointId: id });
}
