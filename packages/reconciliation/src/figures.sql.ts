import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/**
 * Breaks of these checks by check and kind; the seconds since the last finished incremental run, before the first since
 * one is due; and those since the newest full run of the check whose newest one is the oldest (null before the first).
 * For metrics.
 */
export async function readFigures(
  db: Queryable,
  checks: readonly string[],
): Promise<{
  ageSeconds: number;
  fullAgeSeconds: number | null;
  counts: { check: string; kind: string; count: number }[];
}> {
  const [row] = await db.query<{
    age: number;
    full_age: number | null;
    counts: { check: string; kind: string; count: number }[];
  }>(
    named(
      'reconciliation_figures',
      sql`
        select
          extract(epoch from now() - coalesce(finished_at, least(due_at, now())))::float8 as age,
          (
            select extract(epoch from now() - min(full_at))::float8
            from reconciliation_runs
            where check_name = any(${checks}::text[])
          ) as full_age,
          (
            select coalesce(json_agg(json_build_object('check', check_name, 'kind', kind, 'count', count)), '[]')
            from (
              select check_name, kind, count(*)
              from reconciliation_breaks
              where not is_pending and check_name = any(${checks}::text[])
              group by check_name, kind
            ) as counted
          ) as counts
        from reconciliation_lease`,
    ),
  );
  return {
    ageSeconds: row?.age ?? 0,
    fullAgeSeconds: row?.full_age ?? null,
    counts: row?.counts ?? [],
  };
}
