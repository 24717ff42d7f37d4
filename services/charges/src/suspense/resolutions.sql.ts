import type { SuspenseAction } from '@pixmesh/contracts/internal/suspense';
import { type AccountId, type ChargeId, newId, type OperatorId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { endLease, isDue, nextCheck, takeLease, type Urgency } from '@pixmesh/postgres/due-rows';
import { appendEvents, type OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { SuspenseItem } from './suspense-item.ts';

/** What was decided of an item in suspense, and how far it has come. */
export type Resolution = {
  /** Without hyphens the id of the return at the acquirer. */
  id: string;
  item: SuspenseItem;
  /** Who gets the money, of an `accept`. */
  accountId: AccountId | null;
  action: SuspenseAction;
  status: 'processing' | 'completed' | 'failed';
  failureReason: string | null;
  /** Whether its commands are written. */
  isOrdered: boolean;
  version: number;
  unansweredPuts: number;
  lastPutAt: Date | null;
  uncountedRefusal: string | null;
  checks: number;
  checkTraceparent: string | null;
  leaseToken: string | null;
  readAt: Date;
};

const COLUMNS = sql`
  id, item_id, end_to_end_id, charge_id, owner_id, account_id, amount, action, status, failure_reason, ordered_at,
  version, unanswered_puts, last_put_at, uncounted_refusal, checks, check_traceparent, lease_token,
  date_trunc('milliseconds', now()) as read_at`;

type NewResolution = {
  item: SuspenseItem;
  action: SuspenseAction;
  accountId: AccountId | null;
  requestedBy: OperatorId | null;
  /** Written with it; a return that is still to be ordered from the acquirer has none. */
  commands: readonly OutboundEvent[];
  /** When to look at the acquirer: at once, or not at all. */
  isToLookAt: boolean;
};

/**
 * Stores what becomes of an item, with its ledger commands; null when something else at work or done decides already,
 * or a part of the item has gone back: nothing is written then. The unique index is the lock.
 */
export async function insertResolution(
  db: Queryable,
  resolution: NewResolution,
): Promise<Resolution | null> {
  const { item, action, accountId, requestedBy, commands, isToLookAt } = resolution;
  const rows = await db.query<ResolutionRecord>(
    named(
      'suspense_resolution_insert',
      sql`
        with stored as (
          insert into suspense_resolutions (
            id, item_id, end_to_end_id, charge_id, owner_id, account_id, amount, action, requested_by,
            ordered_at, check_at
          )
          select
            ${newId()}::uuid, ${item.id}::uuid, ${item.endToEndId}, ${item.chargeId}::uuid, ${item.ownerId}::uuid,
            ${accountId}::uuid, ${item.amount}::bigint, ${action}, ${requestedBy}::uuid,
            case when ${commands.length > 0} then now() end,
            case when ${isToLookAt} then '-infinity'::timestamptz end
          where not exists (
            select from pix_returns where end_to_end_id = ${item.endToEndId} and disposition = 'unbooked'
          )
          on conflict (item_id) where status <> 'failed' do nothing
          returning ${COLUMNS}
        ),
        ${appendEvents(sql`select from stored`, commands)}
        select * from stored`,
    ),
  );
  return rows[0] ? toResolution(rows[0]) : null;
}

/** What is at work or done for an item. */
export async function findResolution(db: Queryable, itemId: string): Promise<Resolution | null> {
  const rows = await db.query<ResolutionRecord>(
    named(
      'suspense_resolution_find',
      sql`select ${COLUMNS} from suspense_resolutions where item_id = ${itemId} and status <> 'failed'`,
    ),
  );
  return rows[0] ? toResolution(rows[0]) : null;
}

/** The same, locked for the rest of the transaction. */
export async function lockResolution(tx: Transaction, itemId: string): Promise<Resolution | null> {
  const rows = await tx.query<ResolutionRecord>(
    named(
      'suspense_resolution_lock',
      sql`
        select ${COLUMNS} from suspense_resolutions
        where item_id = ${itemId} and status <> 'failed'
        for update`,
    ),
  );
  return rows[0] ? toResolution(rows[0]) : null;
}

/** The return of a locked resolution has happened: its command is written with this, once. */
export async function orderReturn(
  tx: Transaction,
  resolution: Resolution,
  command: OutboundEvent,
): Promise<void> {
  await tx.query(
    named(
      'suspense_resolution_order',
      sql`
        with ordered as (
          update suspense_resolutions
          set ordered_at = now(), check_at = null, version = version + 1
          where id = ${resolution.id} and ordered_at is null
          returning id
        ),
        ${appendEvents(sql`select from ordered`, [command])}
        select id from ordered`,
    ),
  );
}

/** Counts one more call to the acquirer before it is made. False when the resolution has moved since it was read. */
export async function countReturnPut(db: Queryable, resolution: Resolution): Promise<boolean> {
  return await writeIfUnmoved(
    db,
    named(
      'suspense_count_put',
      sql`
        update suspense_resolutions
        set unanswered_puts = unanswered_puts + 1, last_put_at = now(), version = version + 1
        where id = ${resolution.id} and version = ${resolution.version}
        returning id`,
    ),
  );
}

/** The acquirer has the return at work: no call of it is without an answer any more. */
export async function markReturnTaken(
  db: Queryable,
  resolution: Resolution,
  lookInMs: number,
): Promise<boolean> {
  return await writeIfUnmoved(
    db,
    named(
      'suspense_return_taken',
      sql`
        update suspense_resolutions
        set unanswered_puts = 0, uncounted_refusal = null, version = version + 1,
            lease_token = null, lease_until = null, checks = 0,
            ${nextCheck(lookInMs)}
        where id = ${resolution.id} and version = ${resolution.version}
        returning id`,
    ),
  );
}

/** Remembers a refusal that does not count yet; the first one stands. */
export async function keepReturnRefusal(
  db: Queryable,
  resolution: Resolution,
  refusal: { reason: string; lookInMs: number },
): Promise<boolean> {
  return await writeIfUnmoved(
    db,
    named(
      'suspense_keep_refusal',
      sql`
        update suspense_resolutions
        set uncounted_refusal = coalesce(uncounted_refusal, ${refusal.reason}), version = version + 1,
            ${endLease(refusal.lookInMs)}
        where id = ${resolution.id} and version = ${resolution.version}
        returning id`,
    ),
  );
}

/** Nothing was returned: the item is open again. */
export async function failReturn(
  db: Queryable,
  resolution: Resolution,
  reason: string,
): Promise<boolean> {
  return await writeIfUnmoved(
    db,
    named(
      'suspense_return_failed',
      sql`
        update suspense_resolutions
        set status = 'failed', failure_reason = ${reason}, completed_at = now(), version = version + 1,
            check_at = null, lease_token = null, lease_until = null
        where id = ${resolution.id} and version = ${resolution.version} and ordered_at is null
        returning id`,
    ),
  );
}

/** Ends a look that changed nothing. */
export async function releaseResolution(
  db: Queryable,
  resolution: Resolution,
  nextInMs: number | null,
): Promise<void> {
  await db.query(
    named(
      'suspense_release',
      sql`
        update suspense_resolutions set ${endLease(nextInMs)}
        where id = ${resolution.id} and lease_token = ${resolution.leaseToken}`,
    ),
  );
}

/** Leases up to `limit` due returns. Reads `suspense_resolutions_check_at`. */
export async function leaseDueReturns(
  db: Queryable,
  urgency: Urgency,
  options: { limit: number; leaseMs: number },
): Promise<Resolution[]> {
  const rows = await db.query<ResolutionRecord>(
    named(
      'suspense_lease_due',
      sql`
        with due as (
          select id as due_id
          from suspense_resolutions
          where ${isDue(urgency)}
          order by check_at
          limit ${options.limit}
          for update skip locked
        )
        update suspense_resolutions
        set ${takeLease(options.leaseMs)}
        from due
        where id = due_id
        returning ${COLUMNS}`,
    ),
  );
  return rows.map(toResolution);
}

/** The ledger has ended the item, or credited what was handed over; complete with the last of what it needs. */
export async function confirmResolution(
  db: Queryable,
  itemId: string,
  confirmed: { action: SuspenseAction; part: 'resolved' | 'credited' },
): Promise<void> {
  await db.query(
    named(
      'suspense_confirm',
      sql`
        with heard as (
          select id,
            is_resolved or ${confirmed.part} = 'resolved' as resolved,
            is_credited or ${confirmed.part} = 'credited' as credited,
            action = 'accept' and owner_id is null as needs_credit
          from suspense_resolutions
          where item_id = ${itemId} and status = 'processing' and action = ${confirmed.action}
          for update
        ),
        judged as (
          select *, resolved and (credited or not needs_credit) as is_done from heard
        )
        update suspense_resolutions as resolution
        set is_resolved = resolved,
            is_credited = credited,
            version = version + 1,
            status = case when is_done then 'completed' else status end,
            completed_at = case when is_done then now() end,
            check_at = null
        from judged
        where resolution.id = judged.id`,
    ),
  );
}

async function writeIfUnmoved(
  db: Queryable,
  statement: ReturnType<typeof named>,
): Promise<boolean> {
  return (await db.query(statement)).length === 1;
}

type ResolutionRecord = {
  id: string;
  item_id: string;
  end_to_end_id: string;
  charge_id: ChargeId | null;
  owner_id: AccountId | null;
  account_id: AccountId | null;
  amount: bigint;
  action: SuspenseAction;
  status: Resolution['status'];
  failure_reason: string | null;
  ordered_at: Date | null;
  version: number;
  unanswered_puts: number;
  last_put_at: Date | null;
  uncounted_refusal: string | null;
  checks: number;
  check_traceparent: string | null;
  lease_token: string | null;
  read_at: Date;
};

function toResolution(row: ResolutionRecord): Resolution {
  return {
    id: row.id,
    item: {
      id: row.item_id,
      endToEndId: row.end_to_end_id,
      chargeId: row.charge_id,
      ownerId: row.owner_id,
      amount: toCents(row.amount),
    },
    accountId: row.account_id,
    action: row.action,
    status: row.status,
    failureReason: row.failure_reason,
    isOrdered: row.ordered_at !== null,
    version: row.version,
    unansweredPuts: row.unanswered_puts,
    lastPutAt: row.last_put_at,
    uncountedRefusal: row.uncounted_refusal,
    checks: row.checks,
    checkTraceparent: row.check_traceparent,
    leaseToken: row.lease_token,
    readAt: row.read_at,
  };
}
