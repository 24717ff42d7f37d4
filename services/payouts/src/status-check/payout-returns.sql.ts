import type { Cents } from '@pixmesh/kernel/money';
import type { OutboundEvent } from '@pixmesh/postgres/events';
import type { Database } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { appendEventsAndCommands } from '@pixmesh/postgres/unanswered-commands';

import type { PayoutRow } from '#payouts/payout-row.ts';

export type PayoutReturn = { endToEndId: string; returnId: string; amount: Cents };

/**
 * Records a return of a payout once, for ever, with its ledger command in the same commit. `refused`: more would come
 * back than the payout's amount, or its end is contradicted, so that the same money may stand in suspense. The lock has
 * the sum and the contradiction be those of this moment: another return and a contradiction wait for it.
 */
export async function insertReturn(
  db: Database,
  payout: PayoutRow,
  record: { returned: PayoutReturn; command: OutboundEvent },
): Promise<'recorded' | 'known' | 'refused'> {
  const { endToEndId, returnId, amount } = record.returned;
  return await db.transaction(async (tx) => {
    await tx.query(
      named(
        'payout_return_lock',
        sql`select from payouts where id = ${payout.id} for no key update`,
      ),
    );
    const [row] = await tx.query<{ is_recorded: boolean; is_known: boolean }>(
      named(
        'payout_return_insert',
        sql`
          with former as (
            select coalesce(sum(amount), 0) as total, count(*) filter (where return_id = ${returnId}) > 0 as is_known
            from payout_returns
            where payout_id = ${payout.id}
          ),
          recorded as (
            insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
            select ${endToEndId}, ${returnId}, id, account_id, ${amount}::bigint
            from payouts
            cross join former
            where id = ${payout.id} and contradiction is null and not is_known
              and amount >= total + ${amount}::bigint
            on conflict (end_to_end_id, return_id) do nothing
            returning return_id
          ),
          ${appendEventsAndCommands(sql`select from recorded`, [record.command])}
          select exists (select from recorded) as is_recorded, is_known from former`,
      ),
    );
    if (row?.is_recorded === true) return 'recorded';
    return row?.is_known === true ? 'known' : 'refused';
  });
}
