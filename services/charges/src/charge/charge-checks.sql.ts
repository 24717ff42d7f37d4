import type { AnswerWord } from '@pixmesh/acquirer/describe-answer';
import type { ChargeId } from '@pixmesh/kernel/ids';
import { endLease, IS_FREE, takeLease, type Urgency } from '@pixmesh/postgres/due-rows';
import { leaseByAccount, leaseDueInTurn, type LeaseTurn } from '@pixmesh/postgres/lease-in-turn';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { ChargeRow, LeasedCharge } from '#charge/charge-row.ts';
import { CHARGE_COLUMNS, type ChargeRecord, toChargeRow } from '#charge/charges.sql.ts';

/** A scrape must not cost more the longer an outage lasts. */
const ISSUING_READ_MAX = 10_000;

const CHARGES = { table: sql`charges`, key: sql`id`, columns: CHARGE_COLUMNS };

/**
 * Leases up to `limit` charges that are due in their issuing, accounts in turn, however many one of them has. Walks
 * `charges_issuing`.
 */
export async function leaseIssuingCharges(
  db: Queryable,
  options: LeaseTurn,
): Promise<LeasedCharge[]> {
  return await lease(db, leaseIssuingStatement(options));
}

export function leaseIssuingStatement(options: LeaseTurn): Statement {
  const only = sql`status = 'processing'`;
  const due = leaseByAccount(CHARGES, { ...options, urgency: 'routine', only });
  return named('lease_issuing_charges', due);
}

/**
 * Leases up to `limit` due charges to the caller, accounts in turn. Reads `charges_requested` or `charges_check_at`.
 */
export async function leaseDueCharges(
  db: Queryable,
  urgency: Urgency,
  options: LeaseTurn,
): Promise<LeasedCharge[]> {
  const statement = leaseDueInTurn(CHARGES, { ...options, urgency });
  return await lease(db, named(`lease_${urgency}_charges`, statement));
}

/**
 * Seconds since the oldest charge in `processing` was created; 0 where there is none. Reads `charges_issuing`; where more
 * are in it than one scrape reads, the oldest of those.
 */
export async function oldestIssuingSeconds(db: Queryable): Promise<number> {
  const [row] = await db.query<{ age: number }>(
    named(
      'find_oldest_issuing_age',
      sql`
        select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as age
        from (
          select created_at from charges
          where status = 'processing' and check_at is not null
          limit ${ISSUING_READ_MAX}
        ) as issuing`,
    ),
  );
  return row?.age ?? 0;
}

/** For how long the routine check that waits longest has been due, in seconds. Reads one entry of `charges_check_at`. */
export async function oldestDueCheckSeconds(db: Queryable): Promise<number> {
  const [row] = await db.query<{ seconds: number }>(
    named(
      'find_oldest_due_check',
      sql`
        select greatest(extract(epoch from now() - check_at), 0)::float8 as seconds
        from charges
        where check_at > '-infinity'
        order by check_at
        limit 1`,
    ),
  );
  return row?.seconds ?? 0;
}

/** Leases one charge that is still being issued; null while another check of it is under way. */
export async function leaseProcessingCharge(
  db: Queryable,
  id: ChargeId,
  leaseMs: number,
): Promise<LeasedCharge | null> {
  const [leased = null] = await lease(
    db,
    named(
      'lease_processing_charge',
      sql`
        update charges
        set ${takeLease(leaseMs)}
        where id = ${id}
          and status = 'processing'
          and ${IS_FREE}
        returning ${CHARGE_COLUMNS}`,
    ),
  );
  return leased;
}

/**
 * Leases one charge, whatever its status, for a check that does not count, but for the first: one that an operator asks
 * for makes no later one rarer. Null while another check of it is under way.
 */
export async function leaseCharge(
  db: Queryable,
  id: ChargeId,
  leaseMs: number,
): Promise<LeasedCharge | null> {
  const [leased = null] = await lease(
    db,
    named(
      'lease_charge',
      sql`
        update charges
        set ${takeLease(leaseMs)}, checks = greatest(checks - 1, 0)
        where id = ${id} and ${IS_FREE}
        returning ${CHARGE_COLUMNS}`,
    ),
  );
  return leased;
}

async function lease(db: Queryable, statement: Statement): Promise<LeasedCharge[]> {
  const leasedFromMs = performance.now();
  const rows = await db.query<ChargeRecord>(statement);
  return rows.map((row) => ({ ...toChargeRow(row), leasedFromMs }));
}

/**
 * Ends a check that changed nothing, with what it was answered, and schedules the next one; null: only when requested.
 */
export async function releaseCharge(
  db: Queryable,
  charge: ChargeRow,
  { answer, nextInMs }: { answer: AnswerWord; nextInMs: number | null },
): Promise<void> {
  await db.query(
    named(
      'release_charge',
      sql`
        update charges
        set ${endLease(nextInMs)}, last_check_at = now(), last_check_answer = ${answer}
        where id = ${charge.id} and lease_token = ${charge.leaseToken}`,
    ),
  );
}

/** Requests a check at once, on behalf of the trace that caused it. False when no such charge exists. */
export async function requestCheck(
  db: Queryable,
  id: ChargeId,
  traceparent: string | null,
): Promise<boolean> {
  const rows = await db.query(
    named(
      'request_check',
      sql`
        update charges
        set check_at = '-infinity', check_traceparent = ${traceparent}
        where id = ${id}
        returning id`,
    ),
  );
  return rows.length === 1;
}

/** The same for many, in one statement; those that are requested already are left alone. */
export async function requestChecks(db: Queryable, ids: readonly ChargeId[]): Promise<number> {
  if (ids.length === 0) return 0;
  const rows = await db.query(
    named(
      'request_checks',
      sql`
        update charges
        set check_at = '-infinity'
        where id = any(array(
          select id from charges
          where id = any(${ids}::uuid[]) and check_at is distinct from '-infinity'
          order by id
          for update
        ))
        returning id`,
    ),
  );
  return rows.length;
}
