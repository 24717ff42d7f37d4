import type {
  Break,
  CheckReport,
  FullRun,
  ReconciliationReport,
} from '@pixmesh/contracts/internal/reconciliation';

/** One service's part of the report; null where it gave none. */
export type ReportPart = { service: string; report: ReconciliationReport | null };

/** What `GET /admin/reconciliation` answers. */
export type JoinedReport = {
  object: 'reconciliation';
  checked_at: string | null;
  breaks: number;
  checks: CheckReport[];
  /** Full runs that were requested and have not ended. */
  full_runs: (FullRun & { service: string })[];
};

/**
 * Joins what each service reports of what it owns. The whole is as old as its oldest part, and as yet unknown
 * where a part has never run. A part that is missing is a break by itself: a report that leaves it out would look
 * complete.
 */
export function joinReports(parts: readonly ReportPart[], now: Date): JoinedReport {
  const checks = joinByName(parts.flatMap((part) => checksOf(part, now)));
  return {
    object: 'reconciliation',
    checked_at: oldestRun(parts),
    breaks: checks.reduce((sum, check) => sum + check.breaks.length, 0),
    checks,
    full_runs: parts.flatMap(({ service, report }) =>
      report?.full_run ? [{ service, ...report.full_run }] : [],
    ),
  };
}

function checksOf({ service, report }: ReportPart, now: Date): CheckReport[] {
  if (report !== null) return report.checks;
  return [{ name: service, compared: 0, breaks: [unavailable(service, now)] }];
}

function unavailable(service: string, now: Date): Break {
  return {
    kind: 'unavailable',
    id: service,
    expected: 'report',
    found: null,
    amount: null,
    since: now.toISOString(),
  };
}

/** Several services make a check of the same name, such as `outbox`: together they are that check. */
function joinByName(checks: readonly CheckReport[]): CheckReport[] {
  const joined = new Map<string, CheckReport>();
  for (const check of checks) {
    const { compared = 0, breaks = [] } = joined.get(check.name) ?? {};
    joined.set(check.name, {
      name: check.name,
      compared: compared + check.compared,
      breaks: [...breaks, ...check.breaks],
    });
  }
  return [...joined.values()];
}

/** Timestamps have one form, so their text has the order of time. */
function oldestRun(parts: readonly ReportPart[]): string | null {
  const runs = parts.flatMap(({ report }) => (report === null ? [] : [report.checked_at]));
  if (runs.length === 0 || runs.includes(null)) return null;
  return runs.reduce((oldest, run) => (run! < oldest! ? run : oldest));
}
