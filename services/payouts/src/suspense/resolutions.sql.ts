import { type AccountId, newId, type OperatorId, type PayoutId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import type { OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { appendEventsAndCommands } from '@pixmesh/postgres/unanswered-commands';

import type { PayoutRow } from '#payouts/payout-row.ts';

/** What an operator decided of an item. */
export type Resolution = {
  id: string;
  accountId: AccountId;
  amount: Cents;
  isCompleted: boolean;
};

const COLUMNS = sql`id, account_id, amount, completed_at is not null as is_completed`;

/** Stores that an item is accepted, with its ledger command; null when it is already. The unique index is the lock. */
export async function insertResolution(
  db: Queryable,
  accepted: { itemId: string; payout: PayoutRow; requestedBy: OperatorId; command: OutboundEvent },
): Promise<Resolution | null> {
  const { itemId, payout, requestedBy, command } = accepted;
  const rows = await db.query<ResolutionRecord>(
    named(
      'suspense_resolution_insert',
      sql`
        with stored as (
          insert into suspense_resolutions (id, item_id, payout_id, account_id, amount, requested_by)
          values (
            ${newId()}, ${itemId}, ${payout.id}, ${payout.accountId}, ${payout.amount}, ${requestedBy}
          )
          on conflict (item_id) do nothing
          returning ${COLUMNS}
        ),
        ${appendEventsAndCommands(sql`select from stored`, [command])}
        select * from stored`,
    ),
  );
  return rows[0] ? toResolution(rows[0]) : null;
}

export async function findResolution(db: Queryable, itemId: string): Promise<Resolution | null> {
  const rows = await db.query<ResolutionRecord>(
    named(
      'suspense_resolution_find',
      sql`select ${COLUMNS} from suspense_resolutions where item_id = ${itemId}`,
    ),
  );
  return rows[0] ? toResolution(rows[0]) : null;
}

/** Whether money of a payout came back and is credited, or will be. Reads `payout_returns_payout`. */
export async function hasReturns(db: Queryable, id: PayoutId): Promise<boolean> {
  const rows = await db.query(
    named('payout_has_returns', sql`select from payout_returns where payout_id = ${id} limit 1`),
  );
  return rows.length > 0;
}

/** The ledger has booked it. Nothing for items that other services booked. */
export async function completeResolution(db: Queryable, itemId: string): Promise<void> {
  await db.query(
    named(
      'suspense_resolution_complete',
      sql`
        update suspense_resolutions set completed_at = now()
        where item_id = ${itemId} and completed_at is null`,
    ),
  );
}

type ResolutionRecord = {
  id: string;
  account_id: AccountId;
  amount: bigint;
  is_completed: boolean;
};

function toResolution(row: ResolutionRecord): Resolution {
  return {
    id: row.id,
    accountId: row.account_id,
    amount: toCents(row.amount),
    isCompleted: row.is_completed,
  };
}
