import type { AccountId, ChargeId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import type { Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { itemOf, type SuspenseItem } from './suspense-item.ts';

/** An item with what has happened to its money so far. */
export type LockedItem = {
  item: SuspenseItem;
  /** What of it has not gone back. */
  left: Cents;
  /** A return of it could not be booked: an operator has to find out before anything else becomes of it. */
  hasUnbooked: boolean;
  /** Its returns that are recorded. */
  returnIds: ReadonlySet<string>;
};

/**
 * The item of a Pix in suspense, alone until the end of the transaction: what is decided of it and what has gone back
 * of it are never written past each other. `received_pix` is append-only, so that there is no row to lock: the lock is
 * one of the end-to-end id, and what it guards is read by a statement after it. Primary key reads.
 */
export async function lockItem(tx: Transaction, endToEndId: string): Promise<LockedItem | null> {
  await tx.query(
    named(
      'lock_suspense_item',
      sql`select pg_advisory_xact_lock(hashtextextended('suspense ' || ${endToEndId}, 0))`,
    ),
  );
  const [row] = await tx.query<ItemRecord>(
    named(
      'find_suspense_item',
      sql`
        select
          end_to_end_id, charge_id, account_id, amount, returned.ids,
          amount - returned.booked as left_over, returned.has_unbooked
        from received_pix,
          lateral (
            select
              coalesce(array_agg(return_id), '{}') as ids,
              coalesce(sum(pix_returns.amount) filter (where disposition in ('suspense', 'suspense_part')), 0)::bigint
                as booked,
              coalesce(bool_or(disposition = 'unbooked'), false) as has_unbooked
            from pix_returns
            where pix_returns.end_to_end_id = received_pix.end_to_end_id
          ) as returned
        where end_to_end_id = ${endToEndId} and disposition = 'suspense'`,
    ),
  );
  return row ? toLockedItem(row) : null;
}

type ItemRecord = {
  end_to_end_id: string;
  charge_id: ChargeId | null;
  account_id: AccountId | null;
  amount: bigint;
  left_over: bigint;
  has_unbooked: boolean;
  ids: string[];
};

function toLockedItem(row: ItemRecord): LockedItem {
  const item = itemOf({
    endToEndId: row.end_to_end_id,
    chargeId: row.charge_id,
    accountId: row.account_id,
    amount: toCents(row.amount),
  });
  const left = toCents(row.left_over);
  return {
    item,
    left,
    hasUnbooked: row.has_unbooked,
    returnIds: new Set(row.ids),
  };
}
