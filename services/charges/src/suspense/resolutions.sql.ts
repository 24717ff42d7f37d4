import type { SuspenseAction } from '@pixmesh/contracts/internal/suspense';
import { type AccountId, type ChargeId, newId, type OperatorId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { appendEventsAndCommands } from '@pixmesh/postgres/unanswered-commands';

import {
  createReturnOrders,
  ORDER_COLUMNS,
  type OrderRecord,
  type OrderRow,
  toOrderCalls,
} from '#returns/return-orders.sql.ts';

import type { EndOfItem } from './suspense-commands.ts';
import type { SuspenseItem } from './suspense-item.ts';

/** What was decided of an item in suspense, and how far it has come. */
export type Resolution = OrderRow & {
  itemId: string;
  chargeId: ChargeId | null;
  /** Of the item; null: the platform. */
  ownerId: AccountId | null;
  /** Who gets the money, of an `accept`. */
  accountId: AccountId | null;
  action: SuspenseAction;
  status: 'processing' | 'completed' | 'failed';
  failureReason: string | null;
  /** Whether its commands are written. */
  isOrdered: boolean;
};

const COLUMNS = sql`
  id, item_id, end_to_end_id, charge_id, owner_id, account_id, amount, action, status, failure_reason, ordered_at,
  ${ORDER_COLUMNS}`;

/**
 * Calls that order returns of items, and the leases of their checks. Reads `suspense_resolutions_requested` and
 * `suspense_resolutions_check_at`. The platform's items take the turns of the nil id.
 */
export const returnItemOrders = createReturnOrders<Resolution, ResolutionRecord>({
  table: sql`suspense_resolutions`,
  name: 'suspense_return',
  columns: COLUMNS,
  account: sql`coalesce(owner_id, '00000000-0000-0000-0000-000000000000')`,
  isOpen: sql`status = 'processing' and ordered_at is null`,
  toRow: toResolution,
});

type NewResolution = {
  item: SuspenseItem;
  /** All that is left of the item. */
  amount: Cents;
  action: SuspenseAction;
  accountId: AccountId | null;
  requestedBy: OperatorId | null;
  /** Written with it; null: a return that is to be ordered from the acquirer, at once. */
  end: EndOfItem | null;
};

/**
 * Stores what becomes of a locked item, with its ledger commands; null when a resolution in progress or completed
 * decides already. The unique index keeps it so.
 */
export async function insertResolution(
  tx: Transaction,
  resolution: NewResolution,
): Promise<Resolution | null> {
  const { item, amount, action, accountId, requestedBy, end } = resolution;
  const rows = await tx.query<ResolutionRecord>(
    named(
      'insert_resolution',
      sql`
        with stored as (
          insert into suspense_resolutions (
            id, item_id, end_to_end_id, charge_id, owner_id, account_id, amount, action, requested_by, command_id,
            ordered_at, check_at
          )
          select
            ${newId()}::uuid, ${item.id}::uuid, ${item.endToEndId}, ${item.chargeId}::uuid, ${item.ownerId}::uuid,
            ${accountId}::uuid, ${amount}::bigint, ${action}, ${requestedBy}::uuid, ${end?.commandId ?? null}::uuid,
            case when ${end !== null} then now() end,
            case when ${end === null} then '-infinity'::timestamptz end
          on conflict (item_id) where status <> 'failed' do nothing
          returning ${COLUMNS}
        ),
        ${appendEventsAndCommands(sql`select from stored`, end?.commands ?? [])}
        select * from stored`,
    ),
  );
  return rows[0] ? toResolution(rows[0]) : null;
}

/** What is in progress or completed for an item, locked for the rest of the transaction. */
export async function lockResolution(tx: Transaction, itemId: string): Promise<Resolution | null> {
  const rows = await tx.query<ResolutionRecord>(
    named(
      'lock_resolution',
      sql`
        select ${COLUMNS} from suspense_resolutions
        where item_id = ${itemId} and status <> 'failed'
        for update`,
    ),
  );
  return rows[0] ? toResolution(rows[0]) : null;
}

/**
 * The return of a locked resolution has happened, or another one that left nothing of its item: the command is written
 * with this, once.
 */
export async function orderReturn(
  tx: Transaction,
  resolution: Resolution,
  { amount, end }: { amount: Cents; end: EndOfItem },
): Promise<void> {
  await tx.query(
    named(
      'order_item_return',
      sql`
        with ordered as (
          update suspense_resolutions
          set ordered_at = now(), command_id = ${end.commandId}, amount = ${amount}, check_at = null,
              version = version + 1
          where id = ${resolution.id} and ordered_at is null
          returning id
        ),
        ${appendEventsAndCommands(sql`select from ordered`, end.commands)}
        select id from ordered`,
    ),
  );
}

/** Nothing was returned: the item is open again. */
export async function failReturn(
  db: Queryable,
  resolution: Resolution,
  reason: string,
): Promise<boolean> {
  const rows = await db.query(
    named(
      'fail_item_return',
      sql`
        update suspense_resolutions
        set status = 'failed', failure_reason = ${reason}, completed_at = now(), version = version + 1,
            check_at = null, lease_token = null, lease_until = null
        where id = ${resolution.id} and version = ${resolution.version} and ordered_at is null
        returning id`,
    ),
  );
  return rows.length === 1;
}

/**
 * The ledger has ended the item, or credited what was handed over; complete with the last of what it needs. Other
 * commands of the item, which return a part of it, are none of these.
 */
export async function confirmResolution(
  db: Queryable,
  itemId: string,
  confirmed: { action: SuspenseAction; part: 'resolved' | 'credited'; commandId: string },
): Promise<void> {
  await db.query(
    named(
      'confirm_resolution',
      sql`
        with confirmed as (
          select id,
            is_resolved or ${confirmed.part} = 'resolved' as resolved,
            is_credited or ${confirmed.part} = 'credited' as credited,
            action = 'accept' and owner_id is null as needs_credit
          from suspense_resolutions
          where item_id = ${itemId} and status = 'processing' and action = ${confirmed.action}
            and ordered_at is not null
            and (${confirmed.part} = 'credited'
              or coalesce(command_id, ${confirmed.commandId}) = ${confirmed.commandId}::uuid)
          for update
        ),
        decided as (
          select *, resolved and (credited or not needs_credit) as is_done from confirmed
        )
        update suspense_resolutions as resolution
        set is_resolved = resolved,
            is_credited = credited,
            version = version + 1,
            status = case when is_done then 'completed' else status end,
            completed_at = case when is_done then now() end,
            check_at = null
        from decided
        where resolution.id = decided.id`,
    ),
  );
}

type ResolutionRecord = OrderRecord & {
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
};

function toResolution(row: ResolutionRecord): Resolution {
  return {
    id: row.id,
    itemId: row.item_id,
    endToEndId: row.end_to_end_id,
    chargeId: row.charge_id,
    ownerId: row.owner_id,
    amount: toCents(row.amount),
    accountId: row.account_id,
    action: row.action,
    status: row.status,
    failureReason: row.failure_reason,
    isOrdered: row.ordered_at !== null,
    ...toOrderCalls(row),
  };
}
