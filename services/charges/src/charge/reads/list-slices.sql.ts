import type { ChargeStatus } from '@pixmesh/contracts/http/charge';
import { sql, type Statement } from '@pixmesh/postgres/sql';

import type { StoredStatus } from '#charge/charge-row.ts';
import { CHARGE_COLUMNS } from '#charge/charges.sql.ts';

/** Rows of a list, without an order. */
export function selectCharges(condition: Statement): Statement {
  return sql`select ${CHARGE_COLUMNS} from charges where ${condition}`;
}

/** The range of an index by class that a slice names, but for where the page starts in it. */
export function isInSlice(listClass: Statement): Statement {
  return sql`
    ${listClass} = slice.list_class
    and created_at > slice.created_after and expires_at > slice.expires_after`;
}

/** Steps of lifetimes, each with the next one, which the lifetimes of its class stay below. */
const STEPS = sql`
  (select step, lead(step) over (order by step) as next from unnest(lifetime_steps()) as step) as steps`;

/**
 * Ranges that hold every charge shown with a status, and next to no other. Open charges stand in classes of lifetimes:
 * older than the next step they have expired, younger than their own they have not (migration 0003). Times of creation
 * are whole milliseconds, so that a microsecond makes a bound an open one.
 */
export function slicesOf(status: ChargeStatus): Statement {
  if (status === 'expired') {
    return sql`
        select 'open ' || step::text as list_class,
          '-infinity'::timestamptz as created_after, '-infinity'::timestamptz as expires_after,
          case
            when step = 0 then 'infinity'
            else now() - make_interval(secs => step) + interval '1 microsecond'
          end as created_below
        from ${STEPS}`;
  }
  if (status === 'pending') {
    return sql`
        select 'open ' || step::text as list_class,
          coalesce(now() - make_interval(secs => next), '-infinity') as created_after,
          now() as expires_after, 'infinity'::timestamptz as created_below
        from ${STEPS}
        union all
        ${wholeClass(sql`'accepted'`)}`;
  }
  return wholeClass(sql`${status}::text`);
}

function wholeClass(name: Statement): Statement {
  return sql`
    select ${name} as list_class, '-infinity'::timestamptz as created_after,
      '-infinity'::timestamptz as expires_after, 'infinity'::timestamptz as created_below`;
}

/** Ranges that hold every charge there is. */
export function everySlice(): Statement {
  return sql`
    select every.list_class, '-infinity'::timestamptz as created_after,
      '-infinity'::timestamptz as expires_after, 'infinity'::timestamptz as created_below
    from (
      select 'open ' || step::text as list_class from unnest(lifetime_steps()) as step
      union all
      select unnest(${WHOLE_CLASSES}::text[])
    ) as every`;
}

/** Classes that are one range each, whatever the time is. */
const WHOLE_CLASSES = [
  'accepted',
  'processing',
  'paid',
  'canceled',
  'failed',
  'refunded',
  'charged_back',
  'infraction',
] satisfies ('accepted' | Exclude<StoredStatus, 'pending'>)[];
