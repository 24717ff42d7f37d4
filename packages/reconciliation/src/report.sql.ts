import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

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
