import type { AccountId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { AccountKind } from '#accounts/chart-of-accounts.ts';

export type JournalRow = {
  id: string;
  kind: string;
  commandId: string;
  resourceId: string | null;
  createdAt: Date;
  /** Debits first; amounts in cents, signed. */
  entries: { kind: AccountKind; amount: number }[];
};

/** Journals of one owner with their entries, newest first. Reads `journals_account` and `entries_journal`. */
export async function listJournals(
  db: Queryable,
  accountId: AccountId,
  page: { limit: number; startingAfter: string | null },
): Promise<JournalRow[]> {
  return await db.query<JournalRow>(
    named(
      'journals_list',
      sql`
        select
          journals.id, journals.kind, command_id as "commandId", resource_id as "resourceId",
          created_at as "createdAt", moved.entries
        from journals
        cross join lateral (
          select json_agg(json_build_object('kind', kind, 'amount', amount) order by amount) as entries
          from entries
          where journal_id = journals.id
        ) as moved
        where account_id = ${accountId}
          and (${page.startingAfter}::uuid is null or id < ${page.startingAfter}::uuid)
        order by id desc
        limit ${page.limit}`,
    ),
  );
}

/** Whether an owner has this journal: what a cursor must name. Primary key read. */
export async function hasJournal(
  db: Queryable,
  accountId: AccountId,
  id: string,
): Promise<boolean> {
  const rows = await db.query(
    named(
      'journal_exists',
      sql`select from journals where id = ${id} and account_id = ${accountId}`,
    ),
  );
  return rows.length === 1;
}
