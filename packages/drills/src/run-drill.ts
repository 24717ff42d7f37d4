import { setTimeout as delay } from 'node:timers/promises';

import { eventually } from '@pixmesh/testkit/eventually';

import type { Drill } from './drill.ts';
import { startLightLoad } from './load/light-load.ts';
import { clearHome, type DrillMesh, startMesh, stopMesh } from './mesh/drill-mesh.ts';
import { createReport } from './report.ts';

/** Load before the fault, so that there is something to break. */
const WARM_UP_MS = 5_000;
const EFFECT_MS_MAX = 120_000;
const RECOVERED_MS_MAX = 300_000;
/** Alerts wait for their `for`, and fire within two minutes of it. */
const ALERT_MS_MAX = 600_000;

/** Runs one drill on a mesh of its own. Answers whether everything was as it has to be. */
export async function runDrill(drill: Drill, home: string): Promise<boolean> {
  const report = createReport(drill.name);
  await clearHome(home);
  const settings = (await drill.prepare?.(home)) ?? {};
  try {
    const mesh = await report.step('start', () => startMesh(home, settings));
    const load = await startLightLoad(mesh);
    await delay(WARM_UP_MS);
    await report.step(`cause: ${drill.purpose}`, () => drill.cause(mesh, load));
    await report.step('effect seen', () =>
      eventually(() => drill.effect(mesh, load), EFFECT_MS_MAX),
    );
    await report.step(`alerts: ${drill.alerts.join(', ') || 'none'}`, () =>
      expectAlerts(mesh, drill, report.note),
    );
    report.startClock();
    await report.step('end of the cause', () => drill.end(mesh, load));
    await report.step('recovered', () =>
      eventually(() => drill.recovered(mesh, load), RECOVERED_MS_MAX),
    );
    report.stopClock();
    await report.step('load ended', () => load.stop());
    report.note(`${load.lives()} lives, ${load.failures()} calls repeated`);
    const problems = await report.step('books compared', () => load.verify());
    report.check(
      'nothing lost, nothing doubled, books agree',
      problems.length === 0,
      problems.join(', '),
    );
  } finally {
    await stopMesh(home);
    await drill.cleanUp?.(home);
  }
  return report.end();
}

/** Where Prometheus watches; otherwise it says so, and nothing is proved about alerts. */
async function expectAlerts(
  mesh: DrillMesh,
  { alerts }: Drill,
  note: (text: string) => void,
): Promise<void> {
  const { prometheus_url: url } = mesh.stack() as { prometheus_url?: string };
  if (url === undefined) {
    note('no Prometheus watches this mesh: no alert was expected');
    return;
  }
  await eventually(async () => {
    const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
      data: { alerts: { state: string; labels: { alertname: string } }[] };
    };
    const firing = new Set(
      data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname),
    );
    const missing = alerts.filter((name) => !firing.has(name));
    if (missing.length > 0) throw new Error(`not firing: ${missing.join(', ')}`);
  }, ALERT_MS_MAX);
}
