import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { ALL_PARTS } from './slices.sql.ts';
import type { Slice } from './slices.ts';

/** Wrong rows of one step; a step with more is as wrong as it gets. */
const BAD_MAX = 2_000;

/** A journal whose entries do not net to zero, or that lacks its entries, or entries that lack their journal. */
export type BadJournal = {
  accountId: string;
  version: bigint;
  /** Null: no journal has this number. */
  commandId: string | null;
  /** Null: no entry has this number. */
  total: bigint | null;
};

/** A balance that is not the sum of its entries. */
export type BadBalance = {
  kind: 'running_balance' | 'balance' | 'version';
  accountId: string;
  /** `available`, `held`, …; null for a version. */
  part: string | null;
  /** Of the entry, for a running balance. */
  version: bigint | null;
  expected: bigint;
  found: bigint;
};

/** Sum of all parts of all owners: zero, as every journal nets to zero within its owner. */
export async function readLedgerTotal(db: Queryable): Promise<bigint> {
  const [row] = await db.query<{ total: bigint }>(
    named(
      'reconciliation_ledger_total',
      sql`
        select coalesce(sum(${ALL_PARTS}), 0)::bigint as total
        from accounts`,
    ),
  );
  return row?.total ?? 0n;
}

/**
 * Keeps the planner on the indexes, which are made for these steps, for the rest of the transaction: statistics may
 * be those of an empty table. Compiling a statement would take longer than running it.
 */
export async function planBySteps(tx: Transaction): Promise<void> {
  await tx.query(sql`
    select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`);
}

/** Reads one range of `entries_pkey` per slice and kind of account, and one of `journals_version` per slice. */
export function badJournalsStatement(slices: readonly Slice[]): Statement {
  return sql`
    with ${sliceTable(slices)},
    summed as (
      select slice.account_id, entry.version, sum(entry.amount)::bigint as total
      from slice
      cross join unnest(enum_range(null::account_kind)) as part
      cross join lateral (
        select version, amount
        from entries
        where account_id = slice.account_id
          and kind = part
          and version > from_version
          and version <= to_version
        offset 0
      ) as entry
      group by slice.account_id, entry.version
    ),
    booked as (
      select slice.account_id, journal.version, journal.command_id
      from slice
      cross join lateral (
        select version, command_id
        from journals
        where account_id = slice.account_id and version > from_version and version <= to_version
        offset 0
      ) as journal
    )
    select account_id as "accountId", version, command_id as "commandId", total
    from summed
    full join booked using (account_id, version)
    where total is distinct from 0 or command_id is null
    order by account_id, version
    limit ${BAD_MAX}`;
}

/**
 * Follows each running balance through a slice, from the newest entry before it; compares the newest entry of each
 * kind with the owner's row where the slice reaches it; and counts the journals. All from one snapshot.
 */
export function badBalancesStatement(slices: readonly Slice[]): Statement {
  return sql`
    with ${sliceTable(slices)},
    part as (
      select slice.*, part as kind, coalesce(carried.balance_after, 0) as carried
      from slice
      cross join unnest(enum_range(null::account_kind)) as part
      left join lateral (
        select balance_after
        from entries
        where account_id = slice.account_id and kind = part and version <= from_version
        order by version desc
        limit 1
      ) as carried on true
    )
    select 'running_balance' as kind, account_id as "accountId", part.kind::text as part, version,
           previous + amount as expected, balance_after as found
    from part
    cross join lateral (
      select version, amount, balance_after, lag(balance_after, 1, carried) over (order by version) as previous
      from entries
      where entries.account_id = part.account_id
        and entries.kind = part.kind
        and version > from_version
        and version <= to_version
    ) as entry
    where previous + amount <> balance_after
    union all
    select 'balance', account_id, part.kind::text, null, newest, stored
    from part
    join accounts using (account_id)
    cross join lateral (
      select
        coalesce((
          select balance_after
          from entries
          where entries.account_id = part.account_id and entries.kind = part.kind
          order by version desc
          limit 1
        ), 0) as newest,
        case part.kind
          when 'available' then available
          when 'pending' then pending
          when 'held' then held
          when 'blocked' then blocked
          when 'suspense' then suspense
          when 'acquirer_clearing' then acquirer_clearing
          when 'fees' then fees
          when 'acquirer_tariffs' then acquirer_tariffs
        end as stored
    ) as compared
    where reaches_end and newest <> stored
    union all
    select 'version', account_id, null, null,
           case when reaches_end then accounts.version else to_version end - from_version, journals
    from slice
    join accounts using (account_id)
    cross join lateral (
      select count(*) as journals
      from journals
      where journals.account_id = slice.account_id
        and journals.version > from_version
        and journals.version <= to_version
    ) as counted
    where journals <> case when reaches_end then accounts.version else to_version end - from_version
    limit ${BAD_MAX}`;
}

export async function findBadJournals(
  tx: Transaction,
  slices: readonly Slice[],
): Promise<BadJournal[]> {
  return await tx.query<BadJournal>(badJournalsStatement(slices));
}

export async function findBadBalances(
  tx: Transaction,
  slices: readonly Slice[],
): Promise<BadBalance[]> {
  return await tx.query<BadBalance>(badBalancesStatement(slices));
}

/** For `with`: the slices, as rows of (account_id, from_version, reaches_end, to_version). */
export function sliceTable(slices: readonly Slice[]): Statement {
  return sql`
    slice as (
      select
        account_id, from_version,
        to_version is null as reaches_end,
        coalesce(to_version, 9223372036854775807) as to_version
      from unnest(
        ${slices.map(({ accountId }) => accountId)}::uuid[],
        ${slices.map(({ from }) => from)}::bigint[],
        ${slices.map(({ to }) => to)}::bigint[]
      ) as slice (account_id, from_version, to_version)
    )`;
}
