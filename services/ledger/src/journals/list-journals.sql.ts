import type { JournalKind } from '@pixmesh/contracts/internal/journal-kinds';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { ACCOUNT_KINDS, type AccountKind } from '#accounts/chart-of-accounts.ts';

/** The bound of the first page: a plan that is kept enters `journals_version` at a bound only where every page has one. */
const VERSION_MAX = 9_223_372_036_854_775_807n;

export type JournalRow = {
  commandId: string;
  kind: JournalKind;
  resourceId: string | null;
  createdAt: Date;
  /** Debits first; amounts in cents, signed. */
  entries: { kind: AccountKind; amount: number }[];
};

/** `before`: the number of the journal behind which the page begins. */
type JournalPage = { limit: number; before: bigint | null };

/**
 * Journals of one owner with their entries, newest first. Reads `journals_version`, and for each journal one place of
 * the key of `entries` per kind; a taken hold's resource stands in its own row.
 */
export async function listJournals(
  db: Queryable,
  accountId: AccountId,
  page: JournalPage,
): Promise<JournalRow[]> {
  return await db.query<JournalRow>(journalsStatement(accountId, page));
}

export function journalsStatement(accountId: AccountId, page: JournalPage): Statement {
  return named(
    'journals_list',
    sql`
      select
        command_id as "commandId", journals.kind, journals.created_at as "createdAt", moved.entries,
        coalesce(journals.resource_id, holds.resource_id) as "resourceId"
      from journals
      left join holds on journals.kind = 'take_hold' and hold_id = command_id
      cross join lateral (
        select json_agg(json_build_object('kind', kind, 'amount', amount) order by amount, kind) as entries
        from entries
        where entries.account_id = journals.account_id
          and entries.kind = any (${ACCOUNT_KINDS}::account_kind[])
          and entries.version = journals.version
      ) as moved
      where journals.account_id = ${accountId}
        and version < ${page.before ?? VERSION_MAX}::bigint
      order by version desc
      limit ${page.limit}`,
  );
}

/** The number of an owner's journal, or null where the owner has none of this id. Primary key read. */
export async function findVersion(
  db: Queryable,
  accountId: AccountId,
  commandId: string,
): Promise<bigint | null> {
  const [row] = await db.query<{ version: bigint | null }>(
    named(
      'journal_version',
      sql`select version from journals where command_id = ${commandId} and account_id = ${accountId}`,
    ),
  );
  return row?.version ?? null;
}
