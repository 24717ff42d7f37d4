import type { AccountId, HoldId } from '@pixmesh/kernel/ids';
import type { Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { Hold } from '#commands/outcome.ts';

import { plainArray } from './plain-array.ts';

type CameBack = {
  /** Settled holds of the payouts, by hold id. */
  holds: ReadonlyMap<string, Hold>;
  /** What has come back of each, by payout. */
  cameBack: ReadonlyMap<string, bigint>;
};

/**
 * What has left for the payouts that commands of a batch say have come back, and how much came back before; under the
 * locks of their owners. A batch without such commands asks for nothing.
 */
export async function readCameBack(
  tx: Transaction,
  commands: readonly LedgerCommand[],
): Promise<CameBack> {
  const payoutIds = new Set(commands.flatMap((command) => payoutOf(command)));
  if (payoutIds.size === 0) return { holds: new Map(), cameBack: new Map() };
  const rows = await tx.query<Row>(cameBackStatement([...payoutIds]));
  return {
    holds: new Map(rows.map((row) => [row.hold_id, toHold(row)])),
    cameBack: new Map(rows.map((row) => [row.resource_id, row.came_back])),
  };
}

function payoutOf(command: LedgerCommand): string[] {
  if (command.kind === 'payout_return.credit') return [command.payoutId];
  if (command.kind !== 'payout.suspend' || command.direction === 'out') return [];
  return command.payoutId === null ? [] : [command.payoutId];
}

type Row = {
  hold_id: HoldId;
  account_id: AccountId;
  resource_id: string;
  kind: Hold['kind'];
  state: Hold['state'];
  amount: bigint;
  fee: bigint;
  created_at: Date;
  came_back: bigint;
};

/**
 * Reads `holds_resource`, `journals_came_back`, whose condition stands here word for word, and entries by their key.
 * `offset 0` keeps the planner from walking through all entries of an owner, as in `read-debits.sql.ts`.
 */
export function cameBackStatement(payoutIds: readonly string[]): Statement {
  return named(
    'ledger_read_came_back',
    sql`
      select
        hold_id, account_id, resource_id, kind, state, amount, fee, created_at,
        coalesce(back.amount, 0)::bigint as came_back
      from holds
      cross join lateral (
        select sum(moved.amount) as amount
        from journals
        cross join lateral (
          select amount
          from entries
          where entries.account_id = journals.account_id
            and entries.kind in ('available', 'suspense')
            and entries.version = journals.version
          offset 0
        ) as moved
        where journals.resource_id = holds.resource_id
          and journals.kind in ('credit_payout_return', 'suspend_payout')
          and moved.amount > 0
      ) as back
      where resource_id = any (${plainArray(payoutIds)}::uuid[]) and state = 'settled'`,
  );
}

function toHold(row: Row): Hold {
  return {
    holdId: row.hold_id,
    accountId: row.account_id,
    resourceId: row.resource_id,
    kind: row.kind,
    amount: row.amount,
    fee: row.fee,
    state: row.state,
    createdAt: row.created_at,
  };
}
