import type { ApplicationChanged } from '@pixmesh/contracts/messages/account-event.v1';
import type { AccountId, ApplicationId, EndpointId } from '@pixmesh/kernel/ids';

import type { EndpointLanesDeps } from '#endpoints/create-endpoint.ts';
import { lockCreations } from '#endpoints/endpoints.sql.ts';
import { lockLanesToChange, wakeLanes } from '#lanes/lanes.sql.ts';

import {
  type ApplicationState,
  findEndpointIds,
  markEndpoints,
  storeApplication,
} from './applications.sql.ts';
import { queueMissed } from './queue-missed.ts';

/**
 * Takes over whether an application is active: while it is not, its endpoints are not sent to, and what waits for them
 * goes on once it is again (decisions 157, 160). A message that comes again, or after a newer one, does nothing but
 * what was cut short the first time, so the whole topic may be read again.
 */
export async function applyApplicationChange(
  deps: EndpointLanesDeps,
  message: ApplicationChanged,
): Promise<void> {
  const state = readState(message);
  const resumed = await applyState(deps, state);
  if (resumed.length > 0) deps.wakeSenders(resumed);
  if (state.active) await queueMissed(deps, state);
}

/**
 * Returns the endpoints that may be sent to again. Registrations of the application pass before or after this, never
 * in between: one that comes after reads the state that is stored here.
 */
async function applyState(
  { db, clock }: EndpointLanesDeps,
  state: ApplicationState,
): Promise<EndpointId[]> {
  return await db.transaction(async (tx) => {
    await lockCreations(tx, state);
    if (!(await storeApplication(tx, state))) return [];
    await lockLanesToChange(tx, await findEndpointIds(tx, state));
    const resumed = await markEndpoints(tx, state);
    await wakeLanes(tx, clock, resumed);
    return resumed;
  });
}

function readState({ account_id, occurred_at, data }: ApplicationChanged): ApplicationState {
  return {
    accountId: account_id as AccountId,
    applicationId: data.application_id as ApplicationId,
    active: data.active,
    version: data.version,
    changedAt: occurred_at,
  };
}
