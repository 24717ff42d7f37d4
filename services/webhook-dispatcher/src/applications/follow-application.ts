import type { ApplicationChanged } from '@pixmesh/contracts/messages/account-event.v1';
import type { AccountId, ApplicationId, EndpointId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';

import { lockCreations } from '#endpoints/endpoints.sql.ts';
import {
  SWEEP_BATCH,
  SWEEP_MS_MAX,
  type SweepDeps,
  sweepDeliveries,
} from '#endpoints/sweep-deliveries.ts';
import { bringForward } from '#endpoints/waiting-deliveries.sql.ts';

import { type ApplicationState, markEndpoints, saveApplication } from './applications.sql.ts';

export type FollowApplicationDeps = SweepDeps & { db: Database };

/**
 * Takes over whether an application is active: while it is not, its endpoints are not sent to, and what waits for them
 * goes on once it is again (decisions 157, 160). A message that comes again, or after a newer one, does nothing, so the
 * whole topic may be read again.
 */
export async function followApplication(
  deps: FollowApplicationDeps,
  message: ApplicationChanged,
): Promise<void> {
  const state = readState(message);
  const resumed = await applyState(deps.db, state);
  await bringAllForward(deps, state, resumed);
}

/**
 * Answers the endpoints that may be sent to again. Registrations of the application pass before or after this, never
 * in between: one that comes after reads the state that is kept here.
 */
async function applyState(db: Database, state: ApplicationState): Promise<EndpointId[]> {
  return await db.transaction(async (tx) => {
    await lockCreations(tx, state);
    return (await saveApplication(tx, state)) ? await markEndpoints(tx, state) : [];
  });
}

/**
 * Only makes what follows from the commit happen sooner: what is not reached, because of a crash or of the time that
 * all endpoints together may take in a consumer's hand, comes due by itself.
 */
async function bringAllForward(
  deps: SweepDeps,
  owner: ApplicationState,
  endpointIds: readonly EndpointId[],
): Promise<void> {
  const end = performance.now() + SWEEP_MS_MAX;
  for (const endpointId of endpointIds) {
    const maxMs = end - performance.now();
    if (maxMs <= 0) return;
    const target = { step: bringForward, owner, endpointId };
    await sweepDeliveries(deps, target, { batch: SWEEP_BATCH, maxMs });
  }
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
