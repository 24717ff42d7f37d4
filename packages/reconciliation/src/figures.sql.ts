import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** Breaks by check and kind, and the seconds since the last finished run (null before the first). For metrics. */
export async function readFigures(db: Queryable): Promise<{
  ageSeconds: number | null;
  counts: { check: string; kind: string; count: number }[];
}> {
  const [row] = await db.query<{
    age: number | null;
    counts: { check: string; kind: string; count: number }[];
  }>(
    named(
      'reconciliation_figures',
      sql`
        select
          extract(epoch from now() - finished_at)::float8 as age,
          (
            select coalesce(json_agg(json_build_object('check', check_name, 'kind', kind, 'count', count)), '[]')
            from (
              select check_name, kind, count(*)
              from reconciliation_breaks
              where not is_pending
              group by check_name, kind
            ) as counted
          ) as counts
        from reconciliation_lease`,
    ),
  );
  return { ageSeconds: row?.age ?? null, counts: row?.counts ?? [] };
}
