import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** Further from the real time the clock cannot go: years keep their four digits. */
export const OFFSET_SECONDS_MAX = 10 * 366 * 86_400;

export async function readOffset(db: Queryable): Promise<number> {
  const rows = await db.query<{ offset_seconds: bigint }>(
    named('clock_read', sql`select offset_seconds from clock`),
  );
  return Number(rows[0]?.offset_seconds ?? 0n);
}

/**
 * Sets how far the clock is from the real time: by `advanceSeconds` from where it stands, or to none where that
 * is null. Null when it would go too far. What waits goes back with the clock, so that an order in flight does
 * not hang for as long as the clock was turned back; a jump ahead makes it due.
 */
export async function moveClock(
  db: Queryable,
  advanceSeconds: number | null,
): Promise<number | null> {
  const rows = await db.query<{ offset_seconds: bigint }>(
    named(
      'clock_move',
      sql`
        with before as (
          select
            offset_seconds,
            coalesce(${advanceSeconds}::bigint, - offset_seconds) as advance
          from clock
          for update
        ),
        moved as (
          update clock
          set offset_seconds = clock.offset_seconds + before.advance
          from before
          where abs(before.offset_seconds + before.advance) <= ${OFFSET_SECONDS_MAX}::bigint
          returning clock.offset_seconds, before.advance
        ),
        back as (
          select advance * interval '1 second' as shift
          from moved
          where advance < 0
        ),
        orders as (
          update sends
          set due_at = due_at + back.shift
          from back
          where due_at is not null
        ),
        refunds as (
          update received_returns
          set due_at = due_at + back.shift
          from back
          where due_at is not null
        ),
        payments as (
          update charges
          set pays_at = pays_at + back.shift
          from back
          where pays_at is not null
        )
        select offset_seconds
        from moved`,
    ),
  );
  return rows[0] ? Number(rows[0].offset_seconds) : null;
}
