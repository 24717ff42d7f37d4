import type { Counted } from '@pixmesh/acquirer-orders/order-calls';
import type { AccountId, ApplicationId, ChargeId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { ChargeRow, ShownCharge, StoredStatus } from './charge-row.ts';

const SHOWN = sql`
  id, status, amount, description, reference, customer_name, customer_email, customer_document, webhook_url, br_code,
  accepted_e2e, end_to_end_id, failure_reason, refunded_amount, created_at, expires_at, paid_at`;

/** Columns of every statement that answers charges; map them with `toChargeRow`. */
export const CHARGE_COLUMNS = sql`
  ${SHOWN}, account_id, application_id, source, webhook_sealed_secret, expires_in, default_expires_in,
  late_payment_policy, release_delay_seconds, fingerprint, version, event_sequence, unanswered_puts, last_put_at,
  last_put_error, first_not_found_at, uncounted_refusal, checks, check_traceparent, lease_token, last_check_at,
  last_check_answer,
  case when check_at = '-infinity' then date_trunc('milliseconds', now()) else check_at end as next_check_at,
  date_trunc('milliseconds', now()) as read_at`;

/**
 * What `/v1` shows is made of these columns of a select of `CHARGE_COLUMNS`; map them with `toShownCharge`. They take a
 * third less CPU to read.
 */
export const SHOWN_COLUMNS = sql`${SHOWN}, read_at`;

/** The charge of one account, whatever made it. Primary key read. */
export async function findCharge(
  db: Queryable,
  accountId: AccountId,
  id: ChargeId,
): Promise<ChargeRow | null> {
  const rows = await db.query<ChargeRecord>(
    named(
      'find_charge',
      sql`select ${CHARGE_COLUMNS} from charges where id = ${id} and account_id = ${accountId}`,
    ),
  );
  return rows[0] ? toChargeRow(rows[0]) : null;
}

/** A charge by id for the service's own jobs and consumers, which act for the installation. */
export async function findAnyCharge(db: Queryable, id: ChargeId): Promise<ChargeRow | null> {
  const rows = await db.query<ChargeRecord>(
    named('find_any_charge', sql`select ${CHARGE_COLUMNS} from charges where id = ${id}`),
  );
  return rows[0] ? toChargeRow(rows[0]) : null;
}

/**
 * Counts one more call to the acquirer before it is made: a crash in the middle leaves it unanswered. Null when
 * the charge has moved since it was read or another check has leased it: no call may be made then. The version stays,
 * because each has its line of history: what ends a charge asks for the count besides (`unansweredCalls`).
 */
export async function countCall(db: Queryable, row: ChargeRow): Promise<Counted<ChargeRow> | null> {
  const [counted] = await db.query<ChargeRecord & { former_put_at: Date | null }>(
    named(
      'count_issuing_call',
      sql`
        update charges
        set unanswered_puts = unanswered_puts + 1, last_put_at = now()
        where id = ${row.id} and version = ${row.version} and lease_token = ${row.leaseToken}
        returning ${CHARGE_COLUMNS}, old.last_put_at as former_put_at`,
    ),
  );
  return counted ? { row: toChargeRow(counted), formerCallAt: counted.former_put_at } : null;
}

/**
 * Takes a call that was not made off the count. Nothing where the charge has moved since, or another call has been
 * counted: a call too many only makes a refusal wait.
 */
export async function uncountCall(
  db: Queryable,
  counted: ChargeRow,
  { lastCallAt, error }: { lastCallAt: Date | null; error: string | null },
): Promise<ChargeRow> {
  const rows = await db.query<ChargeRecord>(
    named(
      'uncount_issuing_call',
      sql`
        update charges
        set unanswered_puts = unanswered_puts - 1, last_put_at = ${lastCallAt},
            last_put_error = coalesce(${error}, last_put_error)
        where id = ${counted.id} and version = ${counted.version}
          and unanswered_puts = ${counted.unansweredCalls}
        returning ${CHARGE_COLUMNS}`,
    ),
  );
  return rows[0] ? toChargeRow(rows[0]) : counted;
}

/** Records why a call has no answer. Nothing where the charge has moved since. */
export async function recordCallError(
  db: Queryable,
  row: ChargeRow,
  error: string,
): Promise<ChargeRow> {
  await db.query(
    named(
      'record_issuing_error',
      sql`
        update charges
        set last_put_error = ${error}
        where id = ${row.id} and version = ${row.version}`,
    ),
  );
  return { ...row, lastCallError: error };
}

/** Records a refusal that does not count yet, because an earlier call may still have its effect. */
export async function recordRefusal(db: Queryable, row: ChargeRow, reason: string): Promise<void> {
  await db.query(
    named(
      'record_issuing_refusal',
      sql`
        update charges
        set uncounted_refusal = coalesce(uncounted_refusal, ${reason})
        where id = ${row.id} and version = ${row.version}`,
    ),
  );
}

/** Records since when the acquirer does not know the charge. */
export async function markNotFound(db: Queryable, row: ChargeRow): Promise<void> {
  await db.query(
    named(
      'mark_charge_not_found',
      sql`
        update charges
        set first_not_found_at = coalesce(first_not_found_at, now())
        where id = ${row.id} and version = ${row.version}`,
    ),
  );
}

export type ShownRecord = {
  id: ChargeId;
  status: StoredStatus;
  amount: bigint;
  description: string | null;
  reference: string | null;
  customer_name: string | null;
  customer_email: string | null;
  customer_document: string | null;
  webhook_url: string | null;
  br_code: string | null;
  accepted_e2e: string | null;
  end_to_end_id: string | null;
  failure_reason: string | null;
  refunded_amount: bigint;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  read_at: Date;
};

export type ChargeRecord = ShownRecord & {
  account_id: AccountId;
  application_id: ApplicationId | null;
  source: ChargeRow['source'];
  webhook_sealed_secret: string | null;
  expires_in: number;
  default_expires_in: number | null;
  late_payment_policy: ChargeRow['latePaymentPolicy'];
  release_delay_seconds: number;
  fingerprint: Buffer;
  version: number;
  event_sequence: number;
  unanswered_puts: number;
  last_put_at: Date | null;
  last_put_error: string | null;
  first_not_found_at: Date | null;
  uncounted_refusal: string | null;
  checks: number;
  check_traceparent: string | null;
  lease_token: string | null;
  last_check_at: Date | null;
  last_check_answer: string | null;
  next_check_at: Date | null;
};

export function toShownCharge(row: ShownRecord): ShownCharge {
  const { customer_name: name, customer_email: email, customer_document: document } = row;
  return {
    id: row.id,
    status: row.status,
    amount: toCents(row.amount),
    description: row.description,
    reference: row.reference,
    customer: name === null ? null : { name, email: email ?? '', document: document ?? '' },
    webhookUrl: row.webhook_url,
    brCode: row.br_code,
    acceptedE2e: row.accepted_e2e,
    endToEndId: row.end_to_end_id,
    failureReason: row.failure_reason,
    refundedAmount: toCents(row.refunded_amount),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    paidAt: row.paid_at,
    readAt: row.read_at,
  };
}

export function toChargeRow(row: ChargeRecord): ChargeRow {
  return {
    ...toShownCharge(row),
    accountId: row.account_id,
    applicationId: row.application_id,
    source: row.source,
    webhookSealedSecret: row.webhook_sealed_secret,
    expiresIn: row.expires_in,
    defaultExpiresIn: row.default_expires_in,
    latePaymentPolicy: row.late_payment_policy,
    releaseDelaySeconds: row.release_delay_seconds,
    fingerprint: row.fingerprint,
    version: row.version,
    eventSequence: row.event_sequence,
    unansweredCalls: row.unanswered_puts,
    lastCallAt: row.last_put_at,
    lastCallError: row.last_put_error,
    firstNotFoundAt: row.first_not_found_at,
    uncountedRefusal: row.uncounted_refusal,
    checks: row.checks,
    checkTraceparent: row.check_traceparent,
    leaseToken: row.lease_token,
    lastCheckAt: row.last_check_at,
    lastCheckAnswer: row.last_check_answer,
    nextCheckAt: row.next_check_at,
  };
}
