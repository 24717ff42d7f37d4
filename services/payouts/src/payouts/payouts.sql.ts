import type { AccountId, ApplicationId, HoldId, OperatorId, PayoutId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { NEXT_CHECK_AT } from './check-time.ts';
import type { PayoutRow, StoredStatus } from './payout-row.ts';

/** Columns of every statement that answers payouts; map them with `toPayoutRow`. */
export const PAYOUT_COLUMNS = sql`
  id, account_id, application_id, source, status, amount, fee, description, reference, recipient_name,
  recipient_document, pix_key_type, pix_key, pix_key_canonical, webhook_url, webhook_sealed_secret,
  fingerprint, is_automatic, pending_reason, hold_id, requested_by, approved_by, end_to_end_id, failure_reason, created_at,
  processed_at, version, event_sequence, send_at, unanswered_puts, last_put_at, last_put_error, uncounted_refusal,
  ending, ending_reason, contradiction, checks, check_traceparent, lease_token, last_check_at, last_check_answer,
  ${NEXT_CHECK_AT} as next_check_at,
  now() as read_at`;

/** The payout or intent of one account under an id. Primary key read. */
export async function findPayout(
  db: Queryable,
  accountId: AccountId,
  id: PayoutId,
): Promise<PayoutRow | null> {
  const rows = await db.query<PayoutRecord>(
    named(
      'payout_find',
      sql`select ${PAYOUT_COLUMNS} from payouts where id = ${id} and account_id = ${accountId}`,
    ),
  );
  return rows[0] ? toPayoutRow(rows[0]) : null;
}

/** A payout by id for operators and the service's own jobs, which act for the installation. */
export async function findAnyPayout(db: Queryable, id: PayoutId): Promise<PayoutRow | null> {
  const rows = await db.query<PayoutRecord>(
    named('payout_find_any', sql`select ${PAYOUT_COLUMNS} from payouts where id = ${id}`),
  );
  return rows[0] ? toPayoutRow(rows[0]) : null;
}

/** Payouts by their ids, in this order; null where there is none. For a pool that plans once. */
export async function findPayouts(
  db: Queryable,
  ids: readonly PayoutId[],
): Promise<(PayoutRow | null)[]> {
  const rows = await db.query<PayoutRecord>(
    named(
      'payouts_find',
      sql`select ${PAYOUT_COLUMNS} from payouts where id = any(${ids}::uuid[])`,
    ),
  );
  const found = new Map(rows.map((row) => [row.id, toPayoutRow(row)]));
  return ids.map((id) => found.get(id) ?? null);
}

export type PayoutRecord = {
  id: PayoutId;
  account_id: AccountId;
  application_id: ApplicationId | null;
  source: PayoutRow['source'];
  status: StoredStatus;
  amount: bigint;
  fee: bigint;
  description: string | null;
  reference: string | null;
  recipient_name: string | null;
  recipient_document: string | null;
  pix_key_type: PayoutRow['pixKeyType'];
  pix_key: string;
  pix_key_canonical: string;
  webhook_url: string | null;
  webhook_sealed_secret: string | null;
  fingerprint: Buffer;
  is_automatic: boolean;
  pending_reason: string | null;
  hold_id: HoldId;
  requested_by: OperatorId | null;
  approved_by: OperatorId | null;
  end_to_end_id: string | null;
  failure_reason: string | null;
  created_at: Date;
  processed_at: Date | null;
  version: number;
  event_sequence: number;
  send_at: Date | null;
  unanswered_puts: number;
  last_put_at: Date | null;
  last_put_error: string | null;
  uncounted_refusal: string | null;
  ending: PayoutRow['ending'];
  ending_reason: string | null;
  contradiction: string | null;
  checks: number;
  check_traceparent: string | null;
  lease_token: string | null;
  last_check_at: Date | null;
  last_check_answer: string | null;
  next_check_at: Date | null;
  read_at: Date;
};

export function toPayoutRow(row: PayoutRecord): PayoutRow {
  return {
    id: row.id,
    accountId: row.account_id,
    applicationId: row.application_id,
    source: row.source,
    status: row.status,
    amount: toCents(row.amount),
    fee: toCents(row.fee),
    description: row.description,
    reference: row.reference,
    recipientName: row.recipient_name,
    recipientDocument: row.recipient_document,
    pixKeyType: row.pix_key_type,
    pixKey: row.pix_key,
    pixKeyCanonical: row.pix_key_canonical,
    webhookUrl: row.webhook_url,
    webhookSealedSecret: row.webhook_sealed_secret,
    fingerprint: row.fingerprint,
    isAutomatic: row.is_automatic,
    pendingReason: row.pending_reason,
    holdId: row.hold_id,
    requestedBy: row.requested_by,
    approvedBy: row.approved_by,
    endToEndId: row.end_to_end_id,
    failureReason: row.failure_reason,
    createdAt: row.created_at,
    processedAt: row.processed_at,
    version: row.version,
    eventSequence: row.event_sequence,
    sendAt: row.send_at,
    unansweredCalls: row.unanswered_puts,
    lastCallAt: row.last_put_at,
    lastCallError: row.last_put_error,
    uncountedRefusal: row.uncounted_refusal,
    ending: row.ending,
    endingReason: row.ending_reason,
    contradiction: row.contradiction,
    checks: row.checks,
    checkTraceparent: row.check_traceparent,
    leaseToken: row.lease_token,
    lastCheckAt: row.last_check_at,
    lastCheckAnswer: row.last_check_answer,
    nextCheckAt: row.next_check_at,
    readAt: row.read_at,
  };
}
