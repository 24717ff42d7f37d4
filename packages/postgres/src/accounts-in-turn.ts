import { type AccountId, NIL_ID } from '@pixmesh/kernel/ids';

import { sql, type Statement } from './sql.ts';

/** Sorts before every account. */
export const BEFORE_ALL_ACCOUNTS = NIL_ID as AccountId;

type Turns = {
  table: Statement;
  /** Which rows give their account a turn, the condition of a partial index that begins with the account. */
  isWork: Statement;
  /** Whose turn a row takes, as the index has it. Default: `account_id`. */
  account?: Statement;
  /** The account served last: the turns begin behind it. */
  after: string;
  /** Of accounts: a number, or an integer of the statement. */
  limit: number | Statement;
};

/**
 * The recursive CTE `ring (turn, ring_account)`: accounts that have work, in turn behind `after`, each once; turn 0 is
 * nobody's. Goes from account to account in the index, so thousands of rows of one account cost one step.
 */
export function accountsInTurn(turns: Turns): Statement {
  const { table, isWork, after, limit, account = sql`account_id` } = turns;
  return sql`
    ring (turn, ring_account, is_wrapped) as (
      select 0, ${after}::uuid, false
      union all
      select
        ring.turn + 1,
        coalesce(ahead.next_account, start.next_account),
        ring.is_wrapped or ahead.next_account is null
      from ring
      left join lateral (
        select ${account} as next_account
        from ${table}
        where ${isWork}
          and ${account} > ring.ring_account
          and (not ring.is_wrapped or ${account} <= ${after}::uuid)
        order by next_account
        limit 1
      ) as ahead on true
      left join lateral (
        select ${account} as next_account
        from ${table}
        where ${isWork}
          and ahead.next_account is null
          and not ring.is_wrapped
          and ${account} <= ${after}::uuid
        order by next_account
        limit 1
      ) as start on true
      where ring.turn < ${limit}::int and coalesce(ahead.next_account, start.next_account) is not null
    )`;
}

/** How many rows are taken, behind whom, and of whom none. */
export type InTurn = { limit: number; after: AccountId; except: readonly string[] };

/** Of accounts that had their turns behind `after`, the last one. */
function lastInTurn(after: AccountId, served: readonly AccountId[]): AccountId {
  const sorted = served.toSorted();
  return sorted.findLast((account) => account <= after) ?? sorted.at(-1) ?? after;
}

/**
 * Takes rows of accounts in turn, each time behind the account that was served last. Other processes have turns of
 * their own.
 */
export function inTurn<Row extends { accountId: AccountId }>(
  take: (turn: InTurn) => Promise<Row[]>,
): (limit: number, except?: readonly string[]) => Promise<Row[]> {
  let after = BEFORE_ALL_ACCOUNTS;
  return async (limit, except = []) => {
    const rows = await take({ limit, after, except });
    after = lastInTurn(
      after,
      rows.map(({ accountId }) => accountId),
    );
    return rows;
  };
}
