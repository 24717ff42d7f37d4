import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** Rows per statement: locks on them are short. */
const ENDED_PER_STATEMENT_MAX = 1_000;

/**
 * Ends events that were set aside for as long as events are kept: the partitions that would take them are dropped, and
 * one that can never be stored would hold back all of its account. Reads the whole table, which is short or empty.
 */
export async function endOldSetAside(db: Queryable, keepDays: number): Promise<void> {
  while ((await endSome(db, keepDays)) === ENDED_PER_STATEMENT_MAX);
}

async function endSome(db: Queryable, keepDays: number): Promise<number> {
  const rows = await db.query(
    named(
      'set_aside_end_old',
      sql`
        with picked as materialized (
          select account_id, event_id
          from set_aside_events
          where event_id < uuid_v7_floor(now() - make_interval(days => ${keepDays}::int))
          limit ${ENDED_PER_STATEMENT_MAX}
          for update skip locked
        )
        delete from set_aside_events
        using picked
        where set_aside_events.account_id = picked.account_id and set_aside_events.event_id = picked.event_id
        returning set_aside_events.event_id`,
    ),
  );
  return rows.length;
}
