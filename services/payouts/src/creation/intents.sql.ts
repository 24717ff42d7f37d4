import type { AccountId, ApplicationId, HoldId, OperatorId, PayoutId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { createWriteBatcher, type WriteBatcher } from '@pixmesh/postgres/write-batcher';

import type { PayoutRow } from '#payouts/payout-row.ts';
import { PAYOUT_COLUMNS, type PayoutRecord, toPayoutRow } from '#payouts/payouts.sql.ts';

import type { PayoutOrder } from './check-payout-body.ts';

export type NewIntent = Omit<PayoutOrder, 'webhookSecret'> & {
  id: PayoutId;
  accountId: AccountId;
  applicationId: ApplicationId | null;
  source: 'api' | 'dashboard';
  requestedBy: OperatorId | null;
  fee: Cents;
  isAutomatic: boolean;
  webhookSealedSecret: string | null;
  fingerprint: Buffer;
  holdId: HoldId;
  /** When the intent's own job checks it for the first time, if nobody finishes it before. */
  firstCheckMs: number;
  /** The trace of the request: jobs that take the payout up later continue it. */
  traceparent: string | null;
};

/** Intents that are stored together share a statement and its commit. Null where the id exists. */
export type NewIntents = WriteBatcher<NewIntent, PayoutRow | null>;

export function createNewIntents(db: Queryable): NewIntents {
  return createWriteBatcher((intents) => insertIntents(db, intents));
}

/** Stores intents of payouts; null for one whose id exists. The primary key is the lock of an `Idempotency-Key`. */
async function insertIntents(
  db: Queryable,
  intents: readonly NewIntent[],
): Promise<(PayoutRow | null)[]> {
  const rows = await db.query<PayoutRecord>(
    named(
      'insert_intents',
      sql`
        insert into payouts (
          id, account_id, application_id, source, status, amount, fee, description, reference,
          recipient_name, recipient_document, pix_key_type, pix_key, pix_key_canonical,
          webhook_url, webhook_sealed_secret, fingerprint, is_automatic, hold_id, requested_by,
          created_at, check_at, check_traceparent
        )
        select
          id, account_id, application_id, source, 'intent', amount, fee, description, reference,
          recipient_name, recipient_document, pix_key_type, pix_key, pix_key_canonical,
          webhook_url, webhook_sealed_secret, fingerprint, is_automatic, hold_id, requested_by,
          date_trunc('milliseconds', now()), now() + first_check_ms * interval '1 ms', traceparent
        from json_to_recordset(${JSON.stringify(intents.map(toRecord))}::json) as intent (
          id uuid, account_id uuid, application_id uuid, source text, amount bigint, fee bigint, description text,
          reference text, recipient_name text, recipient_document text, pix_key_type text, pix_key text,
          pix_key_canonical text, webhook_url text, webhook_sealed_secret text, fingerprint bytea, is_automatic boolean,
          hold_id uuid, requested_by uuid, first_check_ms int, traceparent text
        )
        order by id
        on conflict (id) do nothing
        returning ${PAYOUT_COLUMNS}`,
    ),
  );
  // By the hold: two that came together may have one id.
  const stored = new Map(rows.map((row) => [row.hold_id, toPayoutRow(row)]));
  return intents.map(({ holdId }) => stored.get(holdId) ?? null);
}

/**
 * Drops an intent whose hold was refused or voided, so that its key is free again. False when another process has
 * dropped it, and perhaps begun anew under another hold.
 */
export async function deleteIntent(db: Queryable, intent: PayoutRow): Promise<boolean> {
  const rows = await db.query(
    named(
      'intent_delete',
      sql`
        delete from payouts
        where id = ${intent.id} and hold_id = ${intent.holdId} and status = 'intent'
        returning id`,
    ),
  );
  return rows.length === 1;
}

function toRecord(intent: NewIntent): object {
  return {
    id: intent.id,
    account_id: intent.accountId,
    application_id: intent.applicationId,
    source: intent.source,
    amount: intent.amount.toString(),
    fee: intent.fee.toString(),
    description: intent.description,
    reference: intent.reference,
    recipient_name: intent.recipientName,
    recipient_document: intent.recipientDocument,
    pix_key_type: intent.pixKeyType,
    pix_key: intent.pixKey,
    pix_key_canonical: intent.pixKeyCanonical,
    webhook_url: intent.webhookUrl,
    webhook_sealed_secret: intent.webhookSealedSecret,
    fingerprint: `\\x${intent.fingerprint.toString('hex')}`,
    is_automatic: intent.isAutomatic,
    hold_id: intent.holdId,
    requested_by: intent.requestedBy,
    first_check_ms: intent.firstCheckMs,
    traceparent: intent.traceparent,
  };
}
