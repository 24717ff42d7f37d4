import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { SubscribedEndpoint } from './choose-deliveries.ts';

/**
 * The clocks of an event's service and of this database may differ by this much. An endpoint that was registered
 * right before an event must hear of it, so the bound is lenient.
 */
const CLOCK_DIFFERENCE_MS_MAX = 1_000;

type EventToHear = {
  accountId: string;
  /** Null for a resource that was not made by an application: then all of the account hear of it (decision 178). */
  applicationId: string | null;
  type: string;
  occurredAt: string;
};

/**
 * The endpoints that subscribe to an event, also those that are paused or whose application is deactivated: `active`
 * tells whether neither was so when the event happened, because what happened before is not missed (decisions 157,
 * 160). An endpoint that was registered after the event does not hear of it, however late the event is consumed
 * (decision 237). An application has at most 100 endpoints (decision 162), which bounds the answer. Reads
 * `endpoints_application` or `endpoints_account`; locks nothing.
 */
export async function findSubscribedEndpoints(
  db: Queryable,
  event: EventToHear,
): Promise<SubscribedEndpoint[]> {
  return await db.query<SubscribedEndpoint>(subscribedEndpointsStatement(event));
}

export function subscribedEndpointsStatement(event: EventToHear): Statement {
  const { applicationId } = event;
  return applicationId === null
    ? named('endpoints_of_account', subscribed(event, sql``))
    : named(
        'endpoints_of_application',
        subscribed(event, sql`and application_id = ${applicationId}`),
      );
}

function subscribed({ accountId, type, occurredAt }: EventToHear, audience: Statement): Statement {
  return sql`
    select
      id, url,
      (active or coalesce(paused_at > ${occurredAt}::timestamptz, false))
        and coalesce(application_inactive_since > ${occurredAt}::timestamptz, true) as active
    from endpoints
    where account_id = ${accountId}
      ${audience}
      and deleted_at is null
      and ${type} = any (events)
      and created_at <= ${occurredAt}::timestamptz + ${CLOCK_DIFFERENCE_MS_MAX} * interval '1 millisecond'
    order by id`;
}
