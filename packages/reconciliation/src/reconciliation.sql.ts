import type { Queryable, Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { FoundBreak } from './check.ts';

/** What a check is to compare next, as its last runs left it. */
export type CheckState = {
  /** Null: it has never compared anything. */
  since: Date | null;
  knownIds: string[];
};

export type StoredCheck = { name: string; compared: number };

export type StoredBreak = {
  checkName: string;
  kind: string;
  id: string;
  expected: string | null;
  found: string | null;
  amount: bigint | null;
  since: Date;
};

export async function readDatabaseTime(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>(sql`select now() as now`);
  if (!row) throw new Error('the database did not tell the time');
  return row.now;
}

/**
 * The id of the difference that says that a check has to compare everything: a full run has failed, or more was found
 * than is kept. Only a full run ends it.
 */
export function incompleteIdOf(checkName: string): string {
  return `${checkName}/full`;
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

/** What identifies a difference of a check. */
export type BreakKey = { kind: string; id: string };

export type StoredBreaks = {
  breaks: BreakKey[];
  /** How many are no breaks yet. */
  pending: number;
  /** Those of them that are past their window, and were found for the first time. */
  unconfirmed: BreakKey[];
};

/**
 * Writes what a check found: new differences begin now, known ones keep their `since`. The window counts from the
 * change, by the clock of either side, but never from later than the first run that saw the difference; a break is what
 * is past it and was seen `confirmMs` ago already. A side that could not be read is one at once.
 */
export async function storeBreaks(
  tx: Transaction,
  checkName: string,
  batch: { breaks: readonly FoundBreak[]; windowMs: number; confirmMs: number },
): Promise<StoredBreaks> {
  const rows = await tx.query<BreakKey & { is_pending: boolean; is_young: boolean }>(
    named(
      'reconciliation_store_breaks',
      sql`
        insert into reconciliation_breaks as stored
          (check_name, kind, id, expected, found, amount, account_id, changed_at, is_pending)
        select distinct on (kind, id)
          ${checkName}, kind, id, expected, found, amount, account_id, changed_at,
          ${isYoung(sql`changed_at`, sql`now()`, batch)} or ${isUnconfirmed(sql`kind`, sql`now()`, batch)}
        from unnest(
          ${batch.breaks.map((item) => item.kind)}::text[],
          ${batch.breaks.map((item) => item.id)}::text[],
          ${batch.breaks.map((item) => item.expected ?? null)}::text[],
          ${batch.breaks.map((item) => item.found ?? null)}::text[],
          ${batch.breaks.map((item) => item.amountCents ?? null)}::bigint[],
          ${batch.breaks.map((item) => item.accountId ?? null)}::uuid[],
          ${batch.breaks.map((item) => item.changedAt ?? null)}::timestamptz[]
        ) as item (kind, id, expected, found, amount, account_id, changed_at)
        order by kind, id
        on conflict (check_name, kind, id) do update
        set expected = excluded.expected,
            found = excluded.found,
            amount = excluded.amount,
            account_id = excluded.account_id,
            changed_at = excluded.changed_at,
            is_pending =
              ${isYoung(sql`excluded.changed_at`, sql`stored.since`, batch)}
              or ${isUnconfirmed(sql`excluded.kind`, sql`stored.since`, batch)}
        returning kind, id, is_pending, ${isYoung(sql`changed_at`, sql`since`, batch)} as is_young`,
    ),
  );
  const pending = rows.filter((row) => row.is_pending);
  return {
    breaks: rows.filter((row) => !row.is_pending),
    pending: pending.length,
    unconfirmed: pending.filter((row) => !row.is_young),
  };
}

function isYoung(changedAt: Statement, since: Statement, { windowMs }: { windowMs: number }) {
  return sql`now() - least(${changedAt}, ${since}, now()) < ${windowMs}::int * interval '1 ms'`;
}

function isUnconfirmed(kind: Statement, since: Statement, { confirmMs }: { confirmMs: number }) {
  return sql`
    (${kind} <> 'unavailable' and now() - ${since} < ${confirmMs}::int * interval '1 ms')`;
}

/** Drops those differences of a run's first comparison that its second one did not find again. */
export async function dropUnconfirmed(
  tx: Transaction,
  checkName: string,
  comparisons: { unconfirmed: readonly BreakKey[]; found: readonly FoundBreak[] },
): Promise<void> {
  await tx.query(
    named(
      'reconciliation_drop_unconfirmed',
      sql`
        delete from reconciliation_breaks as stored
        where check_name = ${checkName}
          and (kind, id) in (${keysOf(comparisons.unconfirmed)})
          and (kind, id) not in (${keysOf(comparisons.found)})`,
    ),
  );
}

function keysOf(breaks: readonly BreakKey[]): Statement {
  return sql`
    select * from unnest(${breaks.map(({ kind }) => kind)}::text[], ${breaks.map(({ id }) => id)}::text[])`;
}

/**
 * Drops those known differences of a check that its run did not find again. What is known of an item stays where the
 * item could not be read.
 */
export async function dropHealed(
  tx: Transaction,
  checkName: string,
  { known, found }: { known: readonly string[]; found: readonly FoundBreak[] },
): Promise<void> {
  await tx.query(
    named(
      'reconciliation_drop_healed',
      sql`
        delete from reconciliation_breaks as stored
        where check_name = ${checkName}
          and id = any(${known}::text[])
          and not exists (
            select
            from unnest(
              ${found.map((item) => item.kind)}::text[], ${found.map((item) => item.id)}::text[]
            ) as item (kind, id)
            where item.id = stored.id and item.kind in (stored.kind, 'unavailable')
          )`,
    ),
  );
}

/** A full run that is requested; `startedAt` is null while it waits for its turn. */
export type StoredFullRun = { requestedAt: Date; startedAt: Date | null; compared: number };

export type StoredReport = {
  finishedAt: Date | null;
  checks: StoredCheck[];
  breaks: StoredBreak[];
  fullRun: StoredFullRun | null;
};

/**
 * The end of the newest finished run, what each check compared, the breaks, and how far a full run is; from one
 * snapshot. A run whose process has died has not begun.
 */
export async function readReport(db: Queryable): Promise<StoredReport> {
  const [row] = await db.query<{
    finished_at: Date | null;
    requested_at: Date | null;
    begun_at: Date | null;
    begun_compared: bigint;
    checks: StoredCheck[];
    breaks: (Omit<StoredBreak, 'amount' | 'since'> & { amount: string | null; since: string })[];
  }>(
    named(
      'reconciliation_report',
      sql`
        select
          greatest(incremental.finished_at, full_runs.finished_at) as finished_at,
          full_runs.requested_at,
          case when full_runs.lease_until > now() then full_runs.started_at end as begun_at,
          case when full_runs.lease_until > now() then full_runs.compared else 0 end as begun_compared,
          (
            select coalesce(json_agg(json_build_object('name', check_name, 'compared', compared)), '[]')
            from reconciliation_runs
          ) as checks,
          (
            select coalesce(json_agg(
              json_build_object(
                'checkName', check_name, 'kind', kind, 'id', id, 'expected', expected, 'found', found,
                'amount', amount::text, 'since', since
              ) order by since, kind, id
            ), '[]')
            from reconciliation_breaks
            where not is_pending
          ) as breaks
        from reconciliation_lease as incremental, reconciliation_full_lease as full_runs`,
    ),
  );
  const requestedAt = row?.requested_at ?? null;
  return {
    finishedAt: row?.finished_at ?? null,
    fullRun: requestedAt && {
      requestedAt,
      startedAt: row?.begun_at ?? null,
      compared: Number(row?.begun_compared ?? 0),
    },
    checks: row?.checks ?? [],
    breaks: (row?.breaks ?? []).map(({ amount, since, ...item }) => ({
      ...item,
      amount: amount === null ? null : BigInt(amount),
      since: new Date(since),
    })),
  };
}
