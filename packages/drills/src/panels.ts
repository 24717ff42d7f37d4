import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { REPOSITORY_ROOT } from '@pixmesh/local-stack/repository';

import type { DrillMesh } from './mesh/drill-mesh.ts';

const DASHBOARDS = path.join(REPOSITORY_ROOT, 'deploy/observability/grafana');

type Dashboard = { title: string; panels: { title: string; targets: { expr: string }[] }[] };
type Query = { name: string; expr: string };

/** How many queries the panels of all dashboards have, and the names of those that Prometheus answers nothing. */
export async function tryPanels(mesh: DrillMesh): Promise<{ count: number; empty: string[] }> {
  const queries = readQueries();
  const empty: string[] = [];
  for (const { name, expr } of queries) if (!(await hasData(mesh, expr))) empty.push(name);
  return { count: queries.length, empty };
}

function readQueries(): Query[] {
  return readdirSync(DASHBOARDS).flatMap((file) => {
    const text = readFileSync(path.join(DASHBOARDS, file), 'utf8');
    const { title, panels } = JSON.parse(text) as Dashboard;
    return panels.flatMap((panel) =>
      panel.targets.map(({ expr }) => ({ name: `${title}: ${panel.title}`, expr })),
    );
  });
}

async function hasData(mesh: DrillMesh, expr: string): Promise<boolean> {
  const url = `${mesh.stack().prometheus_url}/api/v1/query?query=${encodeURIComponent(expr)}`;
  const { data } = (await (await fetch(url)).json()) as { data?: { result: unknown[] } };
  return (data?.result.length ?? 0) > 0;
}
