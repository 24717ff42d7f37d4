import { sql } from '@pixmesh/postgres/sql';

/**
 * Condition on a row of `endpoints`: nothing is sent to it now, because it is paused or deleted or its application is
 * deactivated. Senders ask this at every fetch, so no waiting delivery has to be changed when an endpoint is disabled.
 */
export const isDisabled = sql`(not active or application_inactive_since is not null or deleted_at is not null)`;
