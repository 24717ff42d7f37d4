import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import { incompleteIdOf } from './breaks.sql.ts';

/** What a check is to compare next, as its last runs left it. */
export type CheckState = {
  /** Null: it has never compared anything. */
  since: Date | null;
  knownIds: string[];
};

export async function readDatabaseTime(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>(sql`select now() as now`);
  if (!row) throw new Error('the database did not tell the time');
  return row.now;
}

/** What a check's next run has to compare. An incremental run goes back `overlapMs` behind its watermark. */
export async function readCheckState(
  db: Queryable,
  name: string,
  overlapMs: number,
): Promise<CheckState> {
  const [row] = await db.query<{ since: Date | null; known_ids: string[] }>(
    named(
      'reconciliation_check_state',
      sql`
        select
          (
            select watermark - ${overlapMs}::int * interval '1 ms'
            from reconciliation_runs
            where check_name = ${name}
          ) as since,
          array(
            select distinct id
            from reconciliation_breaks
            where check_name = ${name} and id not in (check_name, ${incompleteIdOf(name)})
            order by id
          ) as known_ids`,
    ),
  );
  return { since: row?.since ?? null, knownIds: row?.known_ids ?? [] };
}

/**
 * Whether a check is left to full runs: a release has added it, so that it has never compared anything while others have.
 * Its first run may take hours, and would hold up all other checks of an incremental one. What an incremental run could
 * not compare in a new installation, the next one makes up for.
 */
export const IS_LEFT_TO_FULL_RUNS = sql`
  (
    not exists (select from reconciliation_runs where check_name = name)
    and exists (select from reconciliation_runs)
    and not exists (select from reconciliation_breaks where check_name = name and id = name)
  )`;

/** Those of some checks that an incremental run makes. */
export async function readIncrementalChecks(
  db: Queryable,
  names: readonly string[],
): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    named(
      'reconciliation_incremental_checks',
      sql`select name from unnest(${names}::text[]) as name where not ${IS_LEFT_TO_FULL_RUNS}`,
    ),
  );
  return rows.map(({ name }) => name);
}

type FinishedRun = {
  name: string;
  compared: number;
  startedAt: Date;
  isFull: boolean;
  /** From where the next run goes on; null: from where this one did. */
  watermark: Date | null;
  /** Differences that name an account, where they are more than are kept; otherwise 0. */
  accountBreaks: number;
};

/**
 * Records that a check compared all of its scope, as of `startedAt`. The most differences that name an account stay
 * recorded until they are few again, so that one that heals does not make the next one look like growth.
 */
export async function storeRun(tx: Transaction, run: FinishedRun): Promise<void> {
  await tx.query(
    named(
      'reconciliation_store_run',
      sql`
        insert into reconciliation_runs as stored (
          check_name, compared, watermark, full_at, finished_at, account_breaks, account_breaks_grew_at
        )
        values (
          ${run.name}, ${run.compared}, coalesce(${run.watermark}, ${run.startedAt})::timestamptz,
          case when ${run.isFull}::boolean then ${run.startedAt}::timestamptz end, now(),
          ${run.accountBreaks}, case when ${run.accountBreaks}::int > 0 then now() end
        )
        on conflict (check_name) do update
        set compared = excluded.compared,
            -- Incremental runs may have gone on while a full one was made.
            watermark = coalesce(
              case
                when ${run.isFull}::boolean then greatest(stored.watermark, ${run.watermark}::timestamptz)
                else ${run.watermark}::timestamptz
              end,
              stored.watermark,
              excluded.watermark
            ),
            full_at = coalesce(excluded.full_at, stored.full_at),
            finished_at = excluded.finished_at,
            account_breaks = case
              when excluded.account_breaks = 0 then 0
              else greatest(stored.account_breaks, excluded.account_breaks)
            end,
            account_breaks_grew_at = case
              when excluded.account_breaks > stored.account_breaks then now()
              else stored.account_breaks_grew_at
            end`,
    ),
  );
}
