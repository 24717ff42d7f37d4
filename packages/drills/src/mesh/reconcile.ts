import { eventually } from '@pixmesh/testkit/eventually';

import { type DrillMesh, succeeded } from './drill-mesh.ts';

/** For one run over everything. */
const COMPARED_MS_MAX = 600_000;

type Check = { name: string; breaks: { kind: string; id: string }[] };
type Report = { checks: Check[]; full_runs: unknown[] };

/** What a comparison of everything that began after the call finds, as `check kind id`. */
export async function findBreaks(mesh: DrillMesh): Promise<string[]> {
  const route = 'POST /admin/reconciliation';
  succeeded(route, await mesh.admin({ route, body: { full: true } }));
  const { checks } = await eventually(async () => {
    const report = await readReport(mesh);
    if (report.full_runs.length > 0) throw new Error('a run has not ended');
    return report;
  }, COMPARED_MS_MAX);
  return checks.flatMap(({ name, breaks }) =>
    breaks.map(({ kind, id }) => `${name} ${kind} ${id}`),
  );
}

async function readReport(mesh: DrillMesh): Promise<Report> {
  const route = 'GET /admin/reconciliation';
  const report = succeeded(route, await mesh.admin({ route })).body as unknown as Report;
  // A service that gave no part stands in the list by its own name.
  const missing = report.checks.filter(({ name }) =>
    ['charges', 'payouts', 'ledger'].includes(name),
  );
  if (missing.length > 0) throw new Error('a service has not answered');
  return report;
}
