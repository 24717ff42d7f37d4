import type { AccountId, ApplicationId, ChargeId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { createWriteBatcher, type WriteBatcher } from '@pixmesh/postgres/write-batcher';

import type { ChargeRow, LeasedCharge } from '#charge/charge-row.ts';
import { CHARGE_COLUMNS, type ChargeRecord, toChargeRow } from '#charge/charges.sql.ts';

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
  defaultExpiresIn: number;
  latePaymentPolicy: string;
  releaseDelaySeconds: number;
  fingerprint: Buffer;
  leaseToken: string;
  leaseMs: number;
};

/** Charges that are stored together share a statement and its commit. Null where the id exists. */
export type NewCharges = WriteBatcher<NewCharge, LeasedCharge | null>;

export function createNewCharges(db: Queryable): NewCharges {
  return createWriteBatcher((charges) => insertCharges(db, charges));
}

/**
 * Stores charges as `processing`, each with its first call to the acquirer counted as unanswered and its row leased to
 * the caller; null for one whose id exists. The primary key is the lock of an `Idempotency-Key`.
 */
export async function insertCharges(
  db: Queryable,
  charges: readonly NewCharge[],
): Promise<(LeasedCharge | null)[]> {
  const leasedFromMs = performance.now();
  const rows = await db.query<ChargeRecord>(
    named(
      'insert_charges',
      sql`
        with stored as (
          insert into charges (
            id, account_id, application_id, source, status, amount, description, reference,
            customer_name, customer_email, customer_document, customer_phone,
            webhook_url, webhook_sealed_secret, expires_in, default_expires_in, late_payment_policy, release_delay_seconds,
            fingerprint, created_at, expires_at, unanswered_puts, last_put_at,
            check_at, lease_token, lease_until
          )
          select
            id, account_id, application_id, source, 'processing', amount, description, reference,
            customer_name, customer_email, customer_document, customer_phone,
            webhook_url, webhook_sealed_secret, expires_in, default_expires_in, late_payment_policy, release_delay_seconds,
            fingerprint, at, at + make_interval(secs => expires_in), 1, at,
            now() + lease_ms * interval '1 ms', lease_token, now() + lease_ms * interval '1 ms'
          from json_to_recordset(${JSON.stringify(charges.map(toRecord))}::json) as charge (
            id uuid, account_id uuid, application_id uuid, source text, amount bigint, description text, reference text,
            customer_name text, customer_email text, customer_document text, customer_phone text,
            webhook_url text, webhook_sealed_secret text, expires_in int, default_expires_in int,
            late_payment_policy text, release_delay_seconds int, fingerprint bytea, lease_token uuid, lease_ms int
          )
          cross join (select date_trunc('milliseconds', now()) as at) as clock
          order by id
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
  // By the token: two that came together may have one id.
  const stored = new Map(
    rows.map((row) => [row.lease_token, { ...toChargeRow(row), leasedFromMs }]),
  );
  return charges.map(({ leaseToken }) => stored.get(leaseToken) ?? null);
}

function toRecord(charge: NewCharge): object {
  const { customer } = charge;
  return {
    id: charge.id,
    account_id: charge.accountId,
    application_id: charge.applicationId,
    source: charge.source,
    amount: charge.amount.toString(),
    description: charge.description,
    reference: charge.reference,
    customer_name: customer.name,
    customer_email: customer.email,
    customer_document: customer.document,
    customer_phone: customer.phone,
    webhook_url: charge.webhookUrl,
    webhook_sealed_secret: charge.webhookSealedSecret,
    expires_in: charge.expiresIn,
    default_expires_in: charge.defaultExpiresIn,
    late_payment_policy: charge.latePaymentPolicy,
    release_delay_seconds: charge.releaseDelaySeconds,
    fingerprint: `\\x${charge.fingerprint.toString('hex')}`,
    lease_token: charge.leaseToken,
    lease_ms: charge.leaseMs,
  };
}
