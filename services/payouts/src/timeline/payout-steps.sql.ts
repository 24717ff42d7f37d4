import type { PayoutId } from '@pixmesh/kernel/ids';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

/** When a sender had taken the payout up for the first time, or may since; null: none has, or may. */
export type SendingSteps = { first_put_at: Date | null; send_at: Date | null };

export type ReturnSteps = {
  end_to_end_id: string;
  return_id: string;
  amount: bigint;
  recorded_at: Date;
};

export type ResolutionSteps = {
  id: string;
  amount: bigint;
  created_at: Date;
  completed_at: Date | null;
};

/** Primary key read. */
export function sendingStatement(id: PayoutId): Statement {
  return named('timeline_sending', sql`select first_put_at, send_at from payouts where id = ${id}`);
}

/** What came back of a payout. Reads `payout_returns_payout`. */
export function returnsStatement(id: PayoutId, limit: number): Statement {
  return named(
    'timeline_returns',
    sql`
      select end_to_end_id, return_id, amount, recorded_at
      from payout_returns
      where payout_id = ${id}
      order by return_id
      limit ${limit}`,
  );
}

/** What was decided of items in suspense. Reads `suspense_resolutions_item`. */
export function resolutionsStatement(itemIds: readonly string[], limit: number): Statement {
  return named(
    'timeline_resolutions',
    sql`
      select id, amount, created_at, completed_at
      from suspense_resolutions
      where item_id = any (${itemIds}::uuid[])
      limit ${limit}`,
  );
}
