import assert from 'node:assert';

import type { AccountId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { ACCOUNT_KINDS, type AccountKind, type Balances, balancesOf } from './chart-of-accounts.ts';

const BALANCES = sql`
  available, pending, held, blocked, suspense, acquirer_clearing, fees, acquirer_tariffs`;

/** All parts of one owner, and the number of the journal after which they stood so. */
export type StandingAccount = { balances: Balances; version: bigint };

type StandingRow = Balances & { version: bigint };

/** An owner's row: one snapshot by itself (decision 140). Zeros for an owner who never moved. Primary key read. */
export async function readAccount(db: Queryable, accountId: AccountId): Promise<StandingAccount> {
  const [row] = await db.query<StandingRow>(
    named(
      'account_read',
      sql`select ${BALANCES}, version from accounts where account_id = ${accountId}`,
    ),
  );
  if (!row) return { balances: noBalances(), version: 0n };
  const { version, ...balances } = row;
  return { balances, version };
}

/**
 * The same as it stood at an instant: the newest journal until then is found by halving, and each part's newest entry
 * until that journal by one step down the key of `entries`.
 */
export async function readAccountAt(
  db: Queryable,
  accountId: AccountId,
  at: Date,
): Promise<StandingAccount> {
  const rows = await db.query<{
    version: bigint;
    kind: AccountKind | null;
    balance: bigint | null;
  }>(
    named(
      'account_read_at',
      sql`
        with newest as materialized (
          select version_at(${accountId}::uuid, ${at}::timestamptz) as version
        )
        select newest.version, standing.kind, standing.balance_after as balance
        from newest
        left join lateral (
          select part.kind, entry.balance_after
          from unnest(${ACCOUNT_KINDS}::account_kind[]) as part (kind)
          cross join lateral (
            select balance_after
            from entries
            where account_id = ${accountId}
              and entries.kind = part.kind
              and entries.version <= newest.version
            order by entries.version desc
            limit 1
          ) as entry
        ) as standing on true`,
    ),
  );
  const balances = noBalances();
  for (const { kind, balance } of rows) {
    if (kind !== null && balance !== null) balances[kind] = balance;
  }
  return { balances, version: rows[0]?.version ?? 0n };
}

/**
 * Sums over all owners, in one snapshot, and its time by the clock of the journals: never before one that they hold,
 * also where that clock was set back. Reads the whole table: one row per owner.
 */
export async function readTotals(db: Queryable): Promise<Balances & { read_at: Date }> {
  const [totals] = await db.query<Balances & { read_at: Date }>(
    named(
      'accounts_total',
      sql`
        select
          greatest(now(), max(moved_at))::timestamptz(3) as read_at,
          coalesce(sum(available), 0)::bigint as available,
          coalesce(sum(pending), 0)::bigint as pending,
          coalesce(sum(held), 0)::bigint as held,
          coalesce(sum(blocked), 0)::bigint as blocked,
          coalesce(sum(suspense), 0)::bigint as suspense,
          coalesce(sum(acquirer_clearing), 0)::bigint as acquirer_clearing,
          coalesce(sum(fees), 0)::bigint as fees,
          coalesce(sum(acquirer_tariffs), 0)::bigint as acquirer_tariffs
        from accounts`,
    ),
  );
  assert(totals, 'an aggregate answers one row');
  return totals;
}

function noBalances(): Balances {
  return balancesOf(() => 0n);
}
