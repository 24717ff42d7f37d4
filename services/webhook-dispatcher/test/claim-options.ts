import { newId, NIL_ID } from '@pixmesh/kernel/ids';

import type { ClaimOptions } from '#lanes/claim-lanes.sql.ts';
import type { AccountLane } from '#lanes/lanes.sql.ts';
import { databaseClock } from '#schedule-clock.ts';

/** A claim by a sender that owns nothing yet and has served nobody. */
export function claimOptions(
  changes: Partial<ClaimOptions> & Pick<ClaimOptions, 'leaseMs'>,
): ClaimOptions {
  return {
    clock: databaseClock,
    limit: 1,
    processId: newId(),
    owned: [],
    waitingAccounts: [],
    mayTakeOver: true,
    after: NIL_ID,
    ...changes,
  };
}

/** Lanes of which each is an account's own, as `aBacklog` makes them. */
export function ownLanes(laneIds: readonly string[]): AccountLane[] {
  return laneIds.map((id) => ({ id, accountId: id }));
}
