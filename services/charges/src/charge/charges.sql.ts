import assert from 'node:assert/strict';

import type { AccountId, ApplicationId, ChargeId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import { nextCheck } from '@pixmesh/postgres/due-rows';
import { appendEvents, type OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { ChargeRow, StoredStatus } from './charge-row.ts';
import { type Cause, mayMove } from './transitions.ts';

/** Columns of every statement that answers charges; map them with `toChargeRow`. */
export const CHARGE_COLUMNS = sql`
  id, account_id, application_id, source, status, amount, description,
  reference, customer_name, customer_email, customer_document, webhook_url, webhook_sealed_secret,
  expires_in, late_payment_policy, release_delay_seconds, fingerprint, br_code, accepted_e2e,
  end_to_end_id, failure_reason, refunded_amount, created_at, expires_at, paid_at, version, event_sequence,
  unanswered_puts, last_put_at, first_not_found_at, uncounted_refusal, checks, check_traceparent,
  lease_token,
  date_trunc('milliseconds', now()) as read_at`;

export type NewCharge = {
  id: ChargeId;
  accountId: AccountId;
  /** Null for a charge of the checkout. */
  applicationId: ApplicationId | null;
  source: ChargeRow['source'];
  amount: Cents;
  description: string | null;
  reference: string | null;
  customer: { name: string; email: string; document: string; phone: string | null };
  webhookUrl: string | null;
  webhookSealedSecret: string | null;
  expiresIn: number;
  latePaymentPolicy: string;
  releaseDelaySeconds: number;
  fingerprint: Buffer;
  leaseToken: string;
  leaseMs: number;
};

/**
 * Stores a charge as `processing`, with its first call to the acquirer counted as unanswered and the row
 * leased to the caller; null when the id exists. The primary key is the lock of an `Idempotency-Key`.
 */
export async function insertCharge(db: Queryable, charge: NewCharge): Promise<ChargeRow | null> {
  const rows = await db.query<ChargeRecord>(
    named(
      'charge_insert',
      sql`
        with stored as (
        insert into charges (
          id, account_id, application_id, source, status, amount, description, reference,
          customer_name, customer_email, customer_document, customer_phone,
          webhook_url, webhook_sealed_secret, expires_in, late_payment_policy, release_delay_seconds,
          fingerprint, created_at, expires_at, unanswered_puts, last_put_at,
          check_at, lease_token, lease_until
        )
        select
          ${charge.id}, ${charge.accountId}, ${charge.applicationId}, ${charge.source}, 'processing', ${charge.amount},
          ${charge.description}, ${charge.reference},
          ${charge.customer.name}, ${charge.customer.email}, ${charge.customer.document}, ${charge.customer.phone},
          ${charge.webhookUrl}, ${charge.webhookSealedSecret}, ${charge.expiresIn},
          ${charge.latePaymentPolicy}, ${charge.releaseDelaySeconds},
          ${charge.fingerprint}, at, at + make_interval(secs => ${charge.expiresIn}::int), 1, at,
          lease_end, ${charge.leaseToken}::uuid, lease_end
        from (
          select date_trunc('milliseconds', now()) as at, now() + ${charge.leaseMs}::int * interval '1 ms' as lease_end
        ) as clock
        on conflict (id) do nothing
        returning ${CHARGE_COLUMNS}
        ),
        history as (
          insert into charge_history (charge_id, version, to_status, cause)
          select id, version, status, 'created' from stored
        )
        select * from stored`,
    ),
  );
  return rows[0] ? toChargeRow(rows[0]) : null;
}

/** The charge of one account, whatever made it. Primary key read. */
export async function findCharge(
  db: Queryable,
  accountId: AccountId,
  id: ChargeId,
): Promise<ChargeRow | null> {
  const rows = await db.query<ChargeRecord>(
    named(
      'charge_find',
      sql`select ${CHARGE_COLUMNS} from charges where id = ${id} and account_id = ${accountId}`,
    ),
  );
  return rows[0] ? toChargeRow(rows[0]) : null;
}

/** A charge by id for the service's own jobs and consumers, which act for the installation. */
export async function findAnyCharge(db: Queryable, id: ChargeId): Promise<ChargeRow | null> {
  const rows = await db.query<ChargeRecord>(
    named('charge_find_any', sql`select ${CHARGE_COLUMNS} from charges where id = ${id}`),
  );
  return rows[0] ? toChargeRow(rows[0]) : null;
}

/** Whether the service's tables can be read: the readiness check. */
export async function ping(db: Queryable): Promise<void> {
  await db.query(named('charges_ping', sql`select from charges limit 1`));
}

/** What a transition writes; its events are numbered by the counter that moves with it. */
export type Transition = {
  from: ChargeRow;
  /** The same as before where only its money moved. */
  status: StoredStatus;
  cause: Cause;
  /** The id or text that explains the cause, for its history. */
  detail?: string | null;
  brCode?: string | null;
  location?: string | null;
  failureReason?: string | null;
  paidAt?: Date | null;
  endToEndId?: string | null;
  refundedAmount?: Cents;
  /** Numbered on from the charge's counter: of the charge itself and of its disputes. */
  events: readonly OutboundEvent[];
  /** Ledger commands that belong to the change. */
  commands?: readonly OutboundEvent[];
  /** Milliseconds until the next routine look, null for none; `kept` where no look of this charge ends with it. */
  checkInMs: number | null | 'kept';
};

/**
 * Moves a charge, with its events and their place in the queue, in one statement. False when the charge has
 * moved since it was read: nothing is written then.
 */
export async function moveCharge(db: Queryable, change: Transition): Promise<boolean> {
  const { from, commands = [] } = change;
  assert(from.status === change.status || mayMove(from, change.status), 'no such transition');
  const { name, look } = endOfLook(change.checkInMs);
  const rows = await db.query(
    named(
      name,
      sql`
        with moved as (
          update charges
          set status = ${change.status},
              br_code = coalesce(${change.brCode ?? null}, br_code),
              location = coalesce(${change.location ?? null}, location),
              failure_reason = coalesce(${change.failureReason ?? null}, failure_reason),
              paid_at = coalesce(${change.paidAt ?? null}, paid_at),
              end_to_end_id = coalesce(${change.endToEndId ?? null}, end_to_end_id),
              refunded_amount = coalesce(${change.refundedAmount ?? null}, refunded_amount),
              uncounted_refusal = null,
              version = version + 1,
              event_sequence = event_sequence + ${change.events.length}::int
              ${look}
          where id = ${from.id} and version = ${from.version}
          returning id, version
        ),
        ${appendHistory(sql`moved`, { ...change, from: from.status })},
        ${appendEvents(sql`select from moved`, [...change.events, ...commands])}
        select id from moved`,
    ),
  );
  return rows.length === 1;
}

/** A move that nobody's look made leaves the looks to come, and a lease, as they are. */
function endOfLook(checkInMs: Transition['checkInMs']): { name: string; look: Statement } {
  if (checkInMs === 'kept') return { name: 'charge_move_unseen', look: sql`` };
  const look = sql`, ${nextCheck(checkInMs)}, checks = 0, lease_token = null, lease_until = null`;
  return { name: 'charge_move', look };
}

/** A CTE that writes the history of a change, for as long as the CTE `moved` returned the charge's id and version. */
export function appendHistory(
  moved: Statement,
  change: { from: StoredStatus; status: StoredStatus; cause: Cause; detail?: string | null },
): Statement {
  const { from, status, cause, detail = null } = change;
  return sql`
    history as (
      insert into charge_history (charge_id, version, from_status, to_status, cause, detail)
      select id, version, ${from}, ${status}, ${cause}, ${detail} from ${moved}
    )`;
}

/**
 * Counts one more call to the acquirer before it is made: a crash in the middle leaves it unanswered. Answers the charge
 * as it stands then; null when it has moved since it was read, and no call may be made.
 */
export async function countPut(db: Queryable, row: ChargeRow): Promise<ChargeRow | null> {
  const rows = await db.query<ChargeRecord>(
    named(
      'charge_count_put',
      sql`
        update charges
        set unanswered_puts = unanswered_puts + 1, last_put_at = now()
        where id = ${row.id} and version = ${row.version}
        returning ${CHARGE_COLUMNS}`,
    ),
  );
  return rows[0] ? toChargeRow(rows[0]) : null;
}

/**
 * Takes a counted call back that was never sent. Nothing where the charge has moved since, or another call has been
 * counted: a call too many only makes a refusal wait.
 */
export async function uncountPut(
  db: Queryable,
  counted: ChargeRow,
  lastPutAt: Date | null,
): Promise<ChargeRow> {
  const rows = await db.query<ChargeRecord>(
    named(
      'charge_uncount_put',
      sql`
        update charges
        set unanswered_puts = unanswered_puts - 1, last_put_at = ${lastPutAt}
        where id = ${counted.id} and version = ${counted.version}
          and unanswered_puts = ${counted.unansweredPuts}
        returning ${CHARGE_COLUMNS}`,
    ),
  );
  return rows[0] ? toChargeRow(rows[0]) : counted;
}

/** Remembers a refusal that does not count yet, because an earlier call may still have its effect. */
export async function keepRefusal(db: Queryable, row: ChargeRow, reason: string): Promise<void> {
  await db.query(
    named(
      'charge_keep_refusal',
      sql`
        update charges
        set uncounted_refusal = coalesce(uncounted_refusal, ${reason})
        where id = ${row.id} and version = ${row.version}`,
    ),
  );
}

/** Remembers since when the acquirer does not know the charge. */
export async function markNotFound(db: Queryable, row: ChargeRow): Promise<void> {
  await db.query(
    named(
      'charge_mark_not_found',
      sql`
        update charges
        set first_not_found_at = coalesce(first_not_found_at, now())
        where id = ${row.id} and version = ${row.version}`,
    ),
  );
}

export type ChargeRecord = {
  id: ChargeId;
  account_id: AccountId;
  application_id: ApplicationId | null;
  source: ChargeRow['source'];
  status: StoredStatus;
  amount: bigint;
  description: string | null;
  reference: string | null;
  customer_name: string | null;
  customer_email: string | null;
  customer_document: string | null;
  webhook_url: string | null;
  webhook_sealed_secret: string | null;
  expires_in: number;
  late_payment_policy: ChargeRow['latePaymentPolicy'];
  release_delay_seconds: number;
  fingerprint: Buffer;
  br_code: string | null;
  accepted_e2e: string | null;
  end_to_end_id: string | null;
  failure_reason: string | null;
  refunded_amount: bigint;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  version: number;
  event_sequence: number;
  unanswered_puts: number;
  last_put_at: Date | null;
  first_not_found_at: Date | null;
  uncounted_refusal: string | null;
  checks: number;
  check_traceparent: string | null;
  lease_token: string | null;
  read_at: Date;
};

export function toChargeRow(row: ChargeRecord): ChargeRow {
  const { customer_name: name, customer_email: email, customer_document: document } = row;
  return {
    id: row.id,
    accountId: row.account_id,
    applicationId: row.application_id,
    source: row.source,
    status: row.status,
    amount: toCents(row.amount),
    description: row.description,
    reference: row.reference,
    customer: name === null ? null : { name, email: email ?? '', document: document ?? '' },
    webhookUrl: row.webhook_url,
    webhookSealedSecret: row.webhook_sealed_secret,
    expiresIn: row.expires_in,
    latePaymentPolicy: row.late_payment_policy,
    releaseDelaySeconds: row.release_delay_seconds,
    fingerprint: row.fingerprint,
    brCode: row.br_code,
    acceptedE2e: row.accepted_e2e,
    endToEndId: row.end_to_end_id,
    failureReason: row.failure_reason,
    refundedAmount: toCents(row.refunded_amount),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    paidAt: row.paid_at,
    version: row.version,
    eventSequence: row.event_sequence,
    unansweredPuts: row.unanswered_puts,
    lastPutAt: row.last_put_at,
    firstNotFoundAt: row.first_not_found_at,
    uncountedRefusal: row.uncounted_refusal,
    checks: row.checks,
    checkTraceparent: row.check_traceparent,
    leaseToken: row.lease_token,
    readAt: row.read_at,
  };
}
