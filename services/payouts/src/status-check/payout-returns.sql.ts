import type { Cents } from '@pixmesh/kernel/money';
import type { OutboundEvent } from '@pixmesh/postgres/events';
import type { Database } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { appendEventsAndCommands } from '@pixmesh/postgres/unanswered-commands';

import type { PayoutRow } from '#payouts/payout-row.ts';

export type PayoutReturn = { endToEndId: string; returnId: string; amount: Cents };

/** `contradicted`: the same money may be in suspense. `above_amount`: more would come back than was sent. */
export type ReturnOutcome = 'recorded' | 'known' | 'contradicted' | 'above_amount';

/**
 * Records a return of a payout once, for ever, with its ledger command in the same commit. Under the lock the sum of its
 * returns and its contradiction are those of this moment: another return and a contradiction wait for it.
 */
export async function insertReturn(
  db: Database,
  payout: PayoutRow,
  record: { returned: PayoutReturn; command: OutboundEvent },
): Promise<ReturnOutcome> {
  const { endToEndId, returnId, amount } = record.returned;
  return await db.transaction(async (tx) => {
    await tx.query(
      named(
        'payout_return_lock',
        sql`select from payouts where id = ${payout.id} for no key update`,
      ),
    );
    const [row] = await tx.query<ReturnFacts>(
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
          select
            exists (select from recorded) as is_recorded, is_known,
            (select contradiction from payouts where id = ${payout.id}) is not null as is_contradicted
          from former`,
      ),
    );
    if (row?.is_recorded) return 'recorded';
    if (row?.is_known) return 'known';
    return row?.is_contradicted ? 'contradicted' : 'above_amount';
  });
}

type ReturnFacts = { is_recorded: boolean; is_known: boolean; is_contradicted: boolean };
