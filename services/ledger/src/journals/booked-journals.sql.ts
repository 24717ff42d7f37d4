import { JOURNAL_KINDS, type JournalKind } from '@pixmesh/contracts/internal/journal-kinds';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { ACCOUNT_KINDS } from '#accounts/chart-of-accounts.ts';

/** A command that was decided, in one line. */
export type BookedRow = {
  command_id: string;
  account_id: string;
  kind: JournalKind;
  resource_id: string | null;
  /** Sum of its credits; 0 where nothing moved. */
  amount: bigint;
  created_at: Date;
};

/** Those of the commands that were decided. Primary key reads. */
export async function lookUpJournals(
  db: Queryable,
  commandIds: readonly string[],
): Promise<BookedRow[]> {
  return await db.query<BookedRow>(
    named(
      'journals_look_up',
      bookedRows(sql`select * from journals where command_id = any (${commandIds}::uuid[])`),
    ),
  );
}

export type BookedPage = {
  kinds: readonly JournalKind[];
  from: Date | null;
  to: Date | null;
  startingAfter: string | null;
  limit: number;
};

/** Commands of these kinds by time, oldest first: from `from` on, before `to`, after the command `startingAfter`. */
export async function listBooked(db: Queryable, page: BookedPage): Promise<BookedRow[]> {
  return await db.query<BookedRow>(bookedStatement(page));
}

/** What moves money of ended payouts: rare among all journals. */
const OF_PAYOUTS: ReadonlySet<JournalKind> = new Set([
  JOURNAL_KINDS['payout_return.credit'],
  JOURNAL_KINDS['payout.suspend'],
  JOURNAL_KINDS['suspense.resolve'],
]);

/**
 * Reads `journals_by_time`, and where only what moves money of ended payouts is asked for, `journals_of_payouts`: their
 * conditions stand here word for word.
 */
export function bookedStatement({ kinds, ...page }: BookedPage): Statement {
  const isOfKinds = sql`kind = any (${kinds}::journal_kind[])`;
  return kinds.every((kind) => OF_PAYOUTS.has(kind))
    ? named(
        'journals_of_payouts',
        booked(
          sql`kind in ('credit_payout_return', 'suspend_payout', 'resolve_suspense') and ${isOfKinds}`,
          page,
        ),
      )
    : named(
        'journals_by_time',
        booked(sql`kind not in ('take_hold', 'void_hold') and ${isOfKinds}`, page),
      );
}

function booked(ofKinds: Statement, page: Omit<BookedPage, 'kinds'>): Statement {
  return bookedRows(sql`
    select *
    from journals
    where ${ofKinds}
      and created_at >= coalesce(${page.from}::timestamptz, '-infinity')
      and created_at < coalesce(${page.to}::timestamptz, 'infinity')
      and (created_at, command_id) > (
        coalesce(
          (select created_at from journals where command_id = ${page.startingAfter}::uuid),
          '-infinity'
        ),
        coalesce(${page.startingAfter}::uuid, '00000000-0000-0000-0000-000000000000')
      )
    order by created_at, command_id
    limit ${page.limit}`);
}

/** Whether a command of this id was decided: what a cursor must name. */
export async function isDecided(db: Queryable, commandId: string): Promise<boolean> {
  const rows = await db.query(
    named('journal_exists', sql`select from journals where command_id = ${commandId}`),
  );
  return rows.length === 1;
}

/** The lines of some rows of `journals`, oldest first. */
function bookedRows(rows: Statement): Statement {
  return sql`
    select
      command_id, journal.account_id, journal.kind, journal.created_at,
      coalesce(journal.resource_id, holds.resource_id) as resource_id,
      coalesce(moved.credits, 0)::bigint as amount
    from (${rows}) as journal
    left join holds on journal.kind = 'take_hold' and hold_id = command_id
    cross join lateral (
      select sum(amount) filter (where amount > 0) as credits
      from entries
      where entries.account_id = journal.account_id
        and entries.kind = any (${ACCOUNT_KINDS}::account_kind[])
        and entries.version = journal.version
    ) as moved
    order by journal.created_at, command_id`;
}
