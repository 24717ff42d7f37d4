import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { Announcement } from './announce.ts';

/** A reordered notice follows the one that overtakes it after this long. */
const OVERTAKEN_AFTER_MS = 50;

/**
 * Parts of a `with` clause that queue notices, where their Pix key has a webhook. A notice frees those that were held
 * for it, and is itself not held then: two reordered ones swap places. So one that is to be held comes in a statement
 * of its own.
 */
export function queueCallbacks(announcements: readonly Announcement[]): Statement {
  const notices = announcements.flatMap(({ pixKey, notices: own }) =>
    own.map((notice) => ({ ...notice, pixKey })),
  );
  return sql`
    released as (
      update callbacks
      set held = false,
          next_attempt_at = now() + ${OVERTAKEN_AFTER_MS}::int * interval '1 ms'
      where held and ${notices.length}::int > 0
      returning id
    ),
    queued as (
      insert into callbacks (pix_key, body, held, alone, next_attempt_at)
      select
        pix_key,
        plan.body,
        plan.held and not exists (select from released),
        plan.alone,
        case
          when plan.held and exists (select from released) then now()
          else now() + plan.delay_ms * interval '1 ms'
        end
      from unnest(
        ${notices.map(({ pixKey }) => pixKey)}::text[],
        ${notices.map(({ body }) => body)}::text[],
        ${notices.map(({ delayMs }) => delayMs)}::int[],
        ${notices.map(({ held }) => held)}::boolean[],
        ${notices.map(({ alone }) => alone)}::boolean[]
      ) with ordinality as plan (pix_key, body, delay_ms, held, alone, number)
      join webhooks using (pix_key)
      order by number
      returning id, pix_key
    )`;
}

/** Queues notices that belong to no other change. */
export async function storeCallbacks(db: Queryable, announce: Announcement): Promise<void> {
  await db.query(
    named(
      'callbacks_store',
      sql`
        with ${queueCallbacks([announce])}
        select from queued`,
    ),
  );
}

export type ClaimedCallback = {
  id: bigint;
  body: string;
  attempts: number;
  url: string;
  /** Never sent together with others. */
  alone: boolean;
};

/**
 * Takes due notices for one attempt each, oldest first, with the URL as it is registered now; in the same statement
 * those that were delivered since the last time leave the queue. Other processes skip what is taken; it becomes due
 * again by itself if this one dies. Index `callbacks_next_attempt_at`, and the primary key.
 */
export async function claimCallbacks(
  db: Queryable,
  claim: { limit: number; leaseMs: number; delivered: readonly bigint[] },
): Promise<ClaimedCallback[]> {
  const delivered = claim.delivered.map(String);
  return await db.query<ClaimedCallback>(
    named(
      'callbacks_claim',
      sql`
        with gone as (
          delete from callbacks
          where id = any(${delivered}::bigint[])
        )
        update callbacks
        set attempts = attempts + 1,
            claimed = true,
            held = false,
            next_attempt_at = now() + ${claim.leaseMs}::int * interval '1 ms'
        from (
          select id, url
          from callbacks
          join webhooks using (pix_key)
          where next_attempt_at <= now() and id <> all(${delivered}::bigint[])
          order by next_attempt_at, id
          limit ${claim.limit}::int
          for update of callbacks skip locked
        ) as due
        where callbacks.id = due.id
        returning callbacks.id, body, attempts, url, alone`,
    ),
  );
}

/** Delivered notices leave the queue. */
export async function deleteCallbacks(db: Queryable, ids: readonly bigint[]): Promise<void> {
  await db.query(
    named(
      'callbacks_delete',
      sql`delete from callbacks where id = any(${ids.map(String)}::bigint[])`,
    ),
  );
}

/** Puts a notice back for another attempt, or to rest where `retryInMs` is null. */
export async function rescheduleCallback(
  db: Queryable,
  id: bigint,
  retryInMs: number | null,
): Promise<void> {
  await db.query(
    named(
      'callback_reschedule',
      sql`
        update callbacks
        set claimed = false,
            next_attempt_at = now() + ${retryInMs}::int * interval '1 ms'
        where id = ${id}::bigint`,
    ),
  );
}

/** At boot: what an earlier process had claimed when it ended is due at once. */
export async function releaseClaims(db: Queryable): Promise<void> {
  await db.query(
    named(
      'callbacks_release_claims',
      sql`
        update callbacks
        set claimed = false, next_attempt_at = now()
        where claimed and next_attempt_at is not null`,
    ),
  );
}
