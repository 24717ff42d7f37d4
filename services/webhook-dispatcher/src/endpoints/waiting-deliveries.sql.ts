import type { EndpointId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { EndpointOwner } from './endpoint-row.ts';

/** How far a sweep over what waits for an endpoint has come, in the order of `deliveries_endpoint_pending`. */
export type SweepPosition = { dueAt: Date; id: string };

/** Whose deliveries, after which of them (null: from the first on), and how many at most. */
export type Sweep = {
  owner: EndpointOwner;
  endpointId: EndpointId;
  after: SweepPosition | null;
  limit: number;
};

export type Swept = { count: number; last: SweepPosition | null };

// Rows that somebody has locked are passed over, never waited for: senders and the recorder of outcomes are not held
// up, and no deadlock can form. What stands for the URL of its resource too does not end or wait with an endpoint.
// Picked rows are updated by an array of keys: as a join, a plan may read the whole table for them.

/**
 * What was put off because its endpoint was paused is looked at by its schedule again, never before it (decision
 * 157). What waits for its next attempt, and what a sender has, stays as it is.
 */
export async function bringForward(db: Queryable, sweep: Sweep): Promise<Swept> {
  return toSwept(await db.query<SweptRow>(bringForwardStatement(sweep)));
}

export function bringForwardStatement(sweep: Sweep): Statement {
  return named(
    'deliveries_bring_forward',
    sql`
      with picked as (
        select id, due_at
        from deliveries
        where ${isWaitingBehind(sweep, sql`now()`)}
          and not leased
          and due_at > greatest(next_attempt_at, now())
        order by due_at, id
        limit ${sweep.limit}
        for update skip locked
      ),
      moved as (
        update deliveries
        set due_at = greatest(next_attempt_at, now())
        where id = any (array(select id from picked))
      )
      ${howFar}`,
  );
}

/** Nothing more is sent for a deleted endpoint; what was sent stays as history (decision 158). */
export async function cancelWaiting(db: Queryable, sweep: Sweep): Promise<Swept> {
  return toSwept(await db.query<SweptRow>(cancelStatement(sweep)));
}

export function cancelStatement(sweep: Sweep): Statement {
  return named(
    'deliveries_cancel',
    sql`
      with picked as (
        select id, due_at
        from deliveries
        where ${isWaitingBehind(sweep, sql`'-infinity'::timestamptz`)}
        order by due_at, id
        limit ${sweep.limit}
        for update skip locked
      ),
      moved as (
        update deliveries
        set status = 'canceled', next_attempt_at = null
        where id = any (array(select id from picked))
      )
      ${howFar}`,
  );
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** A range of `deliveries_endpoint_pending`. */
function isWaitingBehind({ owner, endpointId, after }: Sweep, start: Statement): Statement {
  return sql`endpoint_id = ${endpointId}
          and account_id = ${owner.accountId}
          and status = 'pending'
          and not for_resource_url
          and (due_at, id) > (coalesce(${after?.dueAt ?? null}::timestamptz, ${start}), ${after?.id ?? FIRST_ID}::uuid)`;
}

const howFar = sql`
      select id, due_at, count(*) over ()::int as count
      from picked
      order by due_at desc, id desc
      limit 1`;

type SweptRow = { id: string; due_at: Date; count: number };

function toSwept([row]: readonly SweptRow[]): Swept {
  return row === undefined
    ? { count: 0, last: null }
    : { count: row.count, last: { dueAt: row.due_at, id: row.id } };
}
