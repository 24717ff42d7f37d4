import { sql, type Statement } from '@pixmesh/postgres/sql';

/**
 * The clocks of an event's service and of this database may differ by this much. An endpoint that was registered right
 * before an event must receive it, so that bound is lenient. A pause is not: an event after it must not wait for the
 * end of the pause, and what a clock wrongly skips can be sent again.
 */
const CLOCK_DIFFERENCE_MS_MAX = 1_000;

/**
 * Beyond that the clocks decide nothing certain up to here: the largest difference that an installation is to
 * withstand. An event in between is recorded for the endpoint and not sent, so that a merchant who misses it can have
 * it sent again; nothing of an event from before is recorded, because a topic that is read again holds all of them.
 */
const CLOCK_DOUBT_MS_MAX = 30_000;

/**
 * Condition on a row of `endpoints`: it was sent to when an event happened, neither paused by itself nor through its
 * application (decisions 157, 160). What happened before is not missed, and a pause that is over does not count any
 * more. A paused endpoint without a date was paused before every event.
 */
export function wasActiveAt(occurredAt: Statement): Statement {
  return sql`(
    (endpoints.active or coalesce(endpoints.paused_at > ${occurredAt}, false))
    and coalesce(endpoints.application_inactive_since > ${occurredAt}, true)
  )`;
}

/**
 * Condition on a row of `endpoints`: it was registered for an event, by its type, when that happened (decision 237).
 */
export function wasRegisteredAt(occurredAt: Statement, type: Statement): Statement {
  return sql`${registeredFor(type)} <= ${occurredAt} + ${CLOCK_DIFFERENCE_MS_MAX} * interval '1 millisecond'`;
}

/** Condition on a row of `endpoints`: by some clock it may have been registered for an event when that happened. */
export function mayHaveBeenRegisteredAt(occurredAt: Statement, type: Statement): Statement {
  return sql`${registeredFor(type)} <= ${occurredAt} + ${CLOCK_DOUBT_MS_MAX} * interval '1 millisecond'`;
}

function registeredFor(type: Statement): Statement {
  return sql`greatest(endpoints.created_at, (endpoints.events_added_at ->> ${type})::timestamptz)`;
}
