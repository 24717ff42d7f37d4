import { sql } from '@pixmesh/postgres/sql';

/**
 * Condition on a row of `endpoints`: nothing is sent to it now, because it is paused or deleted or its application is
 * deactivated. Whoever sends asks this at every attempt, so that what waits for such an endpoint need not have been
 * moved for it to be silent.
 */
export const isDisabled = sql`(not active or application_inactive_since is not null or deleted_at is not null)`;
