import assert from 'node:assert';

import { IS_OPEN } from './dead-letters.ts';
import type { OutboundEvent } from './events.ts';
import type { Database, Queryable, Transaction } from './pool.ts';
import { named, sql, type Statement } from './sql.ts';

/** Events per batch; `publish` splits them into requests that the broker takes. */
export const BATCH_SIZE = 500;

/** What parked the events of the outbox, among the consumers that park messages. */
export const OUTBOX_CONSUMER = 'outbox';

/**
 * Of a row of `events`: it is parked as one that cannot be published, or was given up. Such an event is not queued once
 * more.
 *
 * The consumer is written out in every query: the index has this condition, and no parameter can prove it.
 */
export const IS_PARKED = sql`
  exists (
    select from dead_letters letter
    where letter.consumer = 'outbox' and letter.replayed_at is null
      and letter.topic = events.topic and letter.key = events.key
      and letter.headers->>'event_id' = events.event_id::text
  )`;

/** An event with its place in the queue. */
export type QueuedEvent = OutboundEvent & {
  traceparent: string | null;
  place: bigint;
  /** Published before, and no outcome of it has come. */
  isResend: boolean;
  /** Behind a parked event of its key. */
  isHeld: boolean;
  /** Committed after the pass that reads it began. */
  isLate: boolean;
  /** Of the statement that has read it. */
  snapshot: string;
};

/**
 * Whether something is queued, as a condition of a larger statement. Not by `exists`: it would drop the order, and with
 * it the use of the index.
 */
export const HAS_QUEUED = sql`(select id from outbox order by id limit 1) is not null`;

/** By primary key: a plain scan would read the deleted rows that wait for vacuum, again and again. */
export async function hasQueuedEvents(db: Database): Promise<boolean> {
  const rows = await db.query(named('outbox_peek', sql`select from outbox order by id limit 1`));
  return rows.length > 0;
}

/**
 * Takes the oldest rows, if no other relay of the service holds the lease. The row lock on the lease lasts as
 * long as the transaction.
 */
export async function claimEvents(tx: Transaction): Promise<QueuedEvent[]> {
  return await readQueued(tx, claimStatement());
}

export function claimStatement(): Statement {
  const queued = sql`
    delete from outbox
    where id in (select id from outbox order by id limit ${BATCH_SIZE})
      and exists (select from lease)
    returning id, event_id, is_resend, xact`;
  return named('outbox_claim', withEvents(queued, null));
}

/** Reads the rows behind a place, under the same lease. `snapshot`: of the beginning of the pass. */
export async function readEvents(
  tx: Transaction,
  after: bigint,
  snapshot: string | null,
): Promise<QueuedEvent[]> {
  const queued = sql`
    select id, event_id, is_resend, xact
    from outbox
    where id > ${after} and exists (select from lease)
    order by id
    limit ${BATCH_SIZE}`;
  return await readQueued(tx, named('outbox_read', withEvents(queued, snapshot)));
}

/**
 * The lease is not taken where the queue was changed by a transaction that this statement does not see: what was put
 * back would be missed. The sub-select reads the version as of the statement's beginning, and the lock the newest one.
 *
 * Each event is looked up by its key: planned while the tables were still small, a join would read whole partitions for
 * ever.
 */
function withEvents(queued: Statement, snapshot: string | null): Statement {
  return sql`
    with lease as (
      select name
      from leases
      where name = 'outbox-relay'
        and queue_version = (select queue_version from leases where name = 'outbox-relay')
      for update skip locked
    ),
    queued as (${queued})
    select
      queued.id as place, is_resend as "isResend", event_id as "eventId", topic, key, type, sequence,
      coalesce(headers, '{}') as headers, message, traceparent,
      exists (
        select from dead_letters
        where consumer = 'outbox' and ${IS_OPEN}
          and dead_letters.topic = event.topic and dead_letters.key = event.key
      ) as "isHeld",
      not coalesce(pg_visible_in_snapshot(xact, ${snapshot}::pg_snapshot), true) as "isLate",
      pg_current_snapshot()::text as snapshot
    from queued
    left join lateral (
      select topic, key, type, sequence, headers, message, traceparent
      from events
      where events.event_id = queued.event_id
      offset 0
    ) as event on true
    order by queued.id`;
}

async function readQueued(tx: Transaction, statement: Statement): Promise<QueuedEvent[]> {
  const rows = await tx.query<QueuedEvent>(statement);
  // Taking an id off the queue without its event would lose a message without a sound.
  assert(
    rows.every((row) => row.topic !== null),
    'a queued event is missing in events',
  );
  return rows;
}

/** Deletes from the queue what was published, or parked, in this transaction. */
export async function deletePublished(
  tx: Transaction,
  events: readonly Pick<QueuedEvent, 'place'>[],
): Promise<void> {
  if (events.length === 0) return;
  const places = events.map(({ place }) => place);
  await tx.query(
    named('outbox_delete_published', sql`delete from outbox where id = any (${places}::bigint[])`),
  );
}

/** Stores events in the queue again, in the places that they had: their order stays. */
export async function requeue(
  tx: Transaction,
  events: readonly Pick<QueuedEvent, 'place' | 'eventId' | 'isResend'>[],
): Promise<void> {
  if (events.length === 0) return;
  const places = events.map(({ place }) => place);
  const ids = events.map(({ eventId }) => eventId);
  const resends = events.map(({ isResend }) => isResend);
  await tx.query(
    named(
      'outbox_requeue',
      sql`
        insert into outbox (id, event_id, is_resend) overriding system value
        select * from unnest(${places}::bigint[], ${ids}::uuid[], ${resends}::boolean[])
        on conflict (id) do nothing`,
    ),
  );
}

/** Has relays whose statement has begun ask once more: they would not see what was put back, parked or taken out. */
export async function countQueueVersion(tx: Transaction): Promise<void> {
  await tx.query(
    named(
      'outbox_count_version',
      sql`update leases set queue_version = queue_version + 1 where name = 'outbox-relay'`,
    ),
  );
}

/** In seconds; 0 where the queue is empty. */
export async function readOldestAge(db: Queryable): Promise<number> {
  const [row] = await db.query<{ age: number }>(
    named(
      'outbox_oldest_age',
      sql`
        select extract(epoch from now() - uuid_extract_timestamp(event_id))::float8 as age
        from outbox
        order by id
        limit 1`,
    ),
  );
  return Math.max(0, row?.age ?? 0);
}
