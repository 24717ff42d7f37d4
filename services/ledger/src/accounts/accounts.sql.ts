import assert from 'node:assert';

import type { AccountId } from '@pixmesh/kernel/ids';
import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { AccountKind } from './chart-of-accounts.ts';

/** One owner's accounts as they stand while their rows are locked. */
export type LockedAccounts = {
  accountId: AccountId;
  balances: ReadonlyMap<AccountKind, bigint>;
  /** Database time of the transaction, for decisions that compare times. */
  now: Date;
};

/**
 * Locks an owner's accounts and reads what they hold, opening those that no journal has needed before. Rows
 * are locked and opened in the order of the primary key, here and everywhere, so that writers queue up instead
 * of blocking each other crosswise. First journals of one owner that meet while they open accounts may still
 * end in a deadlock, which the transaction repeats.
 */
export async function lockAccounts(
  tx: Transaction,
  accountId: AccountId,
  kinds: readonly AccountKind[],
): Promise<LockedAccounts> {
  let rows = await lockOpenAccounts(tx, accountId, kinds);
  if (rows.length < kinds.length) {
    await openAccounts(tx, accountId, kinds);
    rows = await lockOpenAccounts(tx, accountId, kinds);
  }
  const [first] = rows;
  assert(first !== undefined && rows.length === kinds.length, 'accounts are open once inserted');
  return {
    accountId,
    balances: new Map(rows.map((row) => [row.kind, row.balance])),
    now: first.now,
  };
}

type AccountRecord = { kind: AccountKind; balance: bigint; now: Date };

/** Primary key range of one owner. A row that was waited for is read as its last writer left it. */
function lockOpenAccounts(
  tx: Transaction,
  accountId: AccountId,
  kinds: readonly AccountKind[],
): Promise<AccountRecord[]> {
  return tx.query<AccountRecord>(
    named(
      'accounts_lock',
      sql`
        select kind, balance, now() as now
        from accounts
        where account_id = ${accountId} and kind = any(${kinds}::account_kind[])
        order by account_id, kind
        for update`,
    ),
  );
}

async function openAccounts(
  tx: Transaction,
  accountId: AccountId,
  kinds: readonly AccountKind[],
): Promise<void> {
  await tx.query(
    named(
      'accounts_open',
      sql`
        insert into accounts (account_id, kind)
        select ${accountId}::uuid, kind
        from unnest(${kinds}::account_kind[]) as kind
        order by kind
        on conflict (account_id, kind) do nothing`,
    ),
  );
}

/** What a balance is made of, in cents. */
export type BalanceParts = { available: bigint; pending: bigint; blocked: bigint };

/** All parts from one snapshot (decision 140); zeros for an owner without accounts. Primary key range. */
export async function readBalance(db: Queryable, accountId: AccountId): Promise<BalanceParts> {
  const [parts] = await db.query<BalanceParts>(
    named(
      'balance_read',
      sql`
        select
          coalesce(sum(balance) filter (where kind = 'available'), 0)::bigint as available,
          coalesce(sum(balance) filter (where kind = 'pending'), 0)::bigint as pending,
          coalesce(sum(balance) filter (where kind = 'blocked'), 0)::bigint as blocked
        from accounts
        where account_id = ${accountId}`,
    ),
  );
  assert(parts, 'an aggregate answers one row');
  return parts;
}

/** Whether the service's tables can be read: the readiness check. */
export async function ping(db: Queryable): Promise<void> {
  await db.query(named('ledger_ping', sql`select from accounts limit 1`));
}
