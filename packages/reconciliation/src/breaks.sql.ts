import type { Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { FoundBreak } from './check.ts';
import { BREAKS_MAX } from './choose-kept.ts';

/**
 * The id of the difference that says that a check has to compare everything: a full run has failed, or more was found
 * than is kept. Only a full run ends it.
 */
export function incompleteIdOf(checkName: string): string {
  return `${checkName}/full`;
}

/** What identifies a difference of a check. */
export type BreakKey = { kind: string; id: string };

export type StoredBreaks = {
  breaks: BreakKey[];
  /** How many are no breaks yet. */
  pending: number;
  /** Those of them that are past their window, and were found for the first time. */
  unconfirmed: BreakKey[];
  /** How many were new, and found the check full. */
  refused: number;
};

/**
 * Writes what a check found: new differences begin now, known ones keep their `since`. The window counts from the
 * change, by the clock of either side, but never from later than the first run that saw the difference; a break is what
 * is past it and was seen `confirmMs` ago already. A side that could not be read is one at once.
 *
 * Where a check has as many as are kept of one run, nothing new is added. Those that name an account, and stop its
 * payouts, are counted apart, so that no flood of others keeps them out.
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
        with room as (
          select
            count(account_id) < ${BREAKS_MAX} as for_named,
            count(*) - count(account_id) < ${BREAKS_MAX} as for_others
          from reconciliation_breaks
          where check_name = ${checkName}
        )
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
        cross join room
        where case when account_id is null then for_others else for_named end
          or id in (${checkName}, ${incompleteIdOf(checkName)})
          or exists (
            select
            from reconciliation_breaks as known
            where known.check_name = ${checkName} and known.kind = item.kind and known.id = item.id
          )
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
  const given = new Set(batch.breaks.map(({ kind, id }) => `${kind} ${id}`));
  return {
    breaks: rows.filter((row) => !row.is_pending),
    pending: pending.length,
    unconfirmed: pending.filter((row) => !row.is_young),
    refused: given.size - rows.length,
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
 * item could not be read, and what another run has stored since this one began: it may have healed and come back.
 */
export async function dropHealed(
  tx: Transaction,
  checkName: string,
  run: { known: readonly string[]; found: readonly FoundBreak[]; startedAt: Date },
): Promise<void> {
  await tx.query(
    named(
      'reconciliation_drop_healed',
      sql`
        delete from reconciliation_breaks as stored
        where check_name = ${checkName}
          and id = any(${run.known}::text[])
          and since <= ${run.startedAt}
          and not exists (
            select
            from unnest(
              ${run.found.map((item) => item.kind)}::text[], ${run.found.map((item) => item.id)}::text[]
            ) as item (kind, id)
            where item.id = stored.id and item.kind in (stored.kind, 'unavailable')
          )`,
    ),
  );
}
