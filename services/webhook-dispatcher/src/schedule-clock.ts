import { sql, type Statement } from '@pixmesh/postgres/sql';

/**
 * The clock of leases and of the schedule is the database's. Tests turn it by an offset, so that 22 hours
 * pass in seconds and every comparison still happens in one clock.
 */
export type ScheduleClock = { offsetMs(): number };

export const databaseClock: ScheduleClock = { offsetMs: () => 0 };

/** The instant of the statement, as SQL. */
export function scheduleNow(clock: ScheduleClock): Statement {
  return sql`(now() + ${clock.offsetMs()}::float8 * interval '1 millisecond')`;
}
