import type { PayoutStatus } from '@pixmesh/contracts/http/payout';
import type { AccountId, ApplicationId, HoldId, OperatorId, PayoutId } from '@pixmesh/kernel/ids';
import type { Cents } from '@pixmesh/kernel/money';
import { appendEvents } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import { payoutEvents } from '#payouts/payout-events.ts';
import { isVisible, type PayoutRow, type VisiblePayout } from '#payouts/payout-row.ts';
import { PAYOUT_COLUMNS, type PayoutRecord, toPayoutRow } from '#payouts/payouts.sql.ts';
import { IS_SENDABLE } from '#sending/claim-due.sql.ts';
import { isStopped } from '#stops/in-force.sql.ts';

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
};

/**
 * Stores the intent of a payout; null when the id exists. The primary key is the lock of an `Idempotency-Key`. Jobs
 * that take the payout up later continue the trace of this request.
 */
export async function insertIntent(db: Queryable, intent: NewIntent): Promise<PayoutRow | null> {
  const rows = await db.query<PayoutRecord>(
    named(
      'intent_insert',
      sql`
        insert into payouts (
          id, account_id, application_id, source, status, amount, fee, description, reference,
          recipient_name, recipient_document, pix_key_type, pix_key, pix_key_canonical,
          webhook_url, webhook_sealed_secret, fingerprint, is_automatic, hold_id, requested_by,
          created_at, check_at, check_traceparent
        )
        values (
          ${intent.id}, ${intent.accountId}, ${intent.applicationId}, ${intent.source}, 'intent',
          ${intent.amount}, ${intent.fee}, ${intent.description}, ${intent.reference},
          ${intent.recipientName}, ${intent.recipientDocument}, ${intent.pixKeyType}, ${intent.pixKey},
          ${intent.pixKeyCanonical}, ${intent.webhookUrl}, ${intent.webhookSealedSecret},
          ${intent.fingerprint}, ${intent.isAutomatic}, ${intent.holdId}, ${intent.requestedBy},
          date_trunc('milliseconds', now()), now() + ${intent.firstCheckMs}::int * interval '1 ms',
          ${currentTraceParent()}
        )
        on conflict (id) do nothing
        returning ${PAYOUT_COLUMNS}`,
    ),
  );
  return rows[0] ? toPayoutRow(rows[0]) : null;
}

/**
 * Makes a held intent the payout that it was meant to be, with `payment.pix.created` and its place in the queue,
 * in one statement. Null when the row is no such intent any more: somebody else has finished or dropped it.
 *
 * One that would be sent by itself waits for approval while payouts are stopped (decision 262). The statement that would
 * queue it asks for stops itself, so that none can come in between; most creations make no other.
 *
 * `offset 0`: the queue is looked at once, and not for each column that depends on it.
 *
 * @param leaseMs where the caller holds a slot: the call is counted in the same statement, as a claim would, unless others wait to be
 *   sent; then accounts take turns. When a check of it is due
 */
export async function commitIntent(
  db: Queryable,
  intent: PayoutRow,
  leaseMs: number | null = null,
): Promise<VisiblePayout | null> {
  const queued = intent.isAutomatic ? await commitAs(db, intent, queuedAs(leaseMs)) : null;
  return queued ?? (await commitAs(db, intent, WAITING));
}

/** How an intent is committed: in which status, with which columns of its sending, and where. */
type CommitAs = {
  statement: string;
  status: PayoutStatus;
  send: Statement;
  checkAt: Statement;
  from: Statement;
  only: Statement;
};

function queuedAs(leaseMs: number | null): CommitAs {
  const only = sql`not ${isStopped(sql`payouts.account_id`)}`;
  const status = 'processing';
  if (leaseMs === null) {
    const queued = { send: sql`send_at = now()`, checkAt: sql`null`, from: sql`` };
    return { statement: 'intent_commit_queued', status, ...queued, only };
  }
  return {
    statement: 'intent_commit_counted',
    status,
    send: sql`
      send_at = case when is_empty then null else now() end,
      unanswered_puts = case when is_empty then 1 else 0 end,
      first_put_at = case when is_empty then now() end,
      last_put_at = case when is_empty then now() end`,
    checkAt: sql`case when is_empty then now() + ${leaseMs}::int * interval '1 ms' end`,
    from: sql`
      from (
        select not exists (
          select from payouts as waiting where waiting.send_at is not null and ${IS_SENDABLE}
        ) as is_empty
        offset 0
      ) as queue`,
    only,
  };
}

/** The stop that an automatic payout has met may have ended since: its reason is shown all the same. */
const WAITING: CommitAs = {
  statement: 'intent_commit_waiting',
  status: 'pending',
  checkAt: sql`null`,
  from: sql``,
  send: sql`
    pending_reason = case when is_automatic then (
      select 'payouts stopped: ' || stop.reason
      from payout_stops as stop
      where stop.account_id is null or stop.account_id = payouts.account_id
      order by stop.ended_at desc nulls first, stop.created_at
      limit 1
    ) end`,
  only: sql`true`,
};

async function commitAs(
  db: Queryable,
  intent: PayoutRow,
  { statement, status, send, checkAt, from, only }: CommitAs,
): Promise<VisiblePayout | null> {
  const events = payoutEvents({ ...intent, status }, ['payment.pix.created']);
  const rows = await db.query<PayoutRecord>(
    named(
      statement,
      sql`
        with moved as (
          update payouts
          set status = ${status},
              ${send},
              version = version + 1,
              event_sequence = event_sequence + 1,
              check_at = ${checkAt},
              due_at = null,
              checks = 0,
              lease_token = null,
              lease_until = null
          ${from}
          where id = ${intent.id} and hold_id = ${intent.holdId} and status = 'intent' and ${only}
          returning ${PAYOUT_COLUMNS}
        ),
        ${appendEvents(sql`select from moved`, events)}
        select * from moved`,
    ),
  );
  const row = rows[0] ? toPayoutRow(rows[0]) : null;
  return row !== null && isVisible(row) ? row : null;
}

/**
 * Drops an intent whose hold was refused or voided, so that its key is free again. False when somebody else has
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
