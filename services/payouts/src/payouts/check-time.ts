import { endLease, nextCheck, takeLease } from '@pixmesh/postgres/due-rows';
import { sql, type Statement } from '@pixmesh/postgres/sql';

/**
 * When a payout is checked. `check_at` is in indexes, and each change of it costs an entry in every index of the row.
 * So it only says from when on the row is looked for; `due_at` says when the check is due where that is later:
 * `infinity` for none. A check that is put off while the payout moves on changes no index (ADR 0036).
 */

/** A row is looked for that soon at the latest: sooner than the lease of a check that begins now would end. */
export const SOUGHT_WITHIN_MS = 5_000;

/** Rows whose check is due, among those that are found by `check_at`. */
export const IS_REALLY_DUE = sql`(due_at is null or due_at <= now())`;

/** For a row that is read; null: only when requested. */
export const NEXT_CHECK_AT = sql`
  case
    when check_at = '-infinity' then date_trunc('milliseconds', now())
    when check_at is not null then nullif(greatest(check_at, due_at), 'infinity')
  end`;

/** Like `nextCheck`, for statements that may write the indexes. */
export function nextCheckAt(inMs: number | null): Statement {
  return sql`${nextCheck(inMs)}, due_at = null`;
}

/** Like `endLease`. */
export function endCheckLease(nextInMs: number | null): Statement {
  return sql`${endLease(nextInMs)}, due_at = null`;
}

/** Like `takeLease`. */
export function takeCheckLease(leaseMs: number): Statement {
  return sql`${takeLease(leaseMs)}, due_at = null`;
}
