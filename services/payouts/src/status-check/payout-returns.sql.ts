import type { Cents } from '@pixmesh/kernel/money';
import type { OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { appendEventsAndCommands } from '@pixmesh/postgres/unanswered-commands';

import type { PayoutRow } from '#payouts/payout-row.ts';

export type PayoutReturn = { endToEndId: string; returnId: string; amount: Cents };

/**
 * Records a return once per (end-to-end id, return id), for ever, with its ledger command in the same statement.
 * False when it is recorded already.
 */
export async function insertReturn(
  db: Queryable,
  payout: PayoutRow,
  record: { returned: PayoutReturn; command: OutboundEvent },
): Promise<boolean> {
  const { endToEndId, returnId, amount } = record.returned;
  const rows = await db.query(
    named(
      'payout_return_insert',
      sql`
        with recorded as (
          insert into payout_returns (end_to_end_id, return_id, payout_id, account_id, amount)
          values (${endToEndId}, ${returnId}, ${payout.id}, ${payout.accountId}, ${amount})
          on conflict (end_to_end_id, return_id) do nothing
          returning return_id
        ),
        ${appendEventsAndCommands(sql`select from recorded`, [record.command])}
        select return_id from recorded`,
    ),
  );
  return rows.length === 1;
}
