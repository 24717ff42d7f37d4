import { setTimeout as delay } from 'node:timers/promises';

import { eventually } from '@pixmesh/testkit/eventually';

import type { Drill } from './drill.ts';
import { startLightLoad } from './load/light-load.ts';
import { clearHome, startMesh, stopMesh } from './mesh/drill-mesh.ts';
import { createReport } from './report.ts';
import { expectInactive, watchAlerts } from './watch-alerts.ts';

/** Load before the fault, so that there is something to break. */
const WARM_UP_MS = 5_000;
const EFFECT_MS_MAX = 120_000;
const RECOVERED_MS_MAX = 300_000;

type DrillRun = {
  home: string;
  /** Prometheus watches the mesh, and the drill waits for the alerts of its fault. */
  isObserved: boolean;
};

/** Runs one drill on a mesh of its own. Answers whether everything was as it has to be. */
export async function runDrill(drill: Drill, { home, isObserved }: DrillRun): Promise<boolean> {
  const report = createReport(drill.name);
  await clearHome(home);
  const settings = (await drill.prepare?.(home)) ?? {};
  let undo = async (): Promise<void> => undefined;
  try {
    const mesh = await report.step('start', () => startMesh(home, { settings, isObserved }));
    const load = await startLightLoad(mesh);
    await delay(WARM_UP_MS);
    // The start of a mesh makes some pending for a moment.
    if (isObserved) await report.step('alerts at rest', () => expectInactive(mesh, drill.alerts));
    const alerts = isObserved ? watchAlerts(mesh, report, performance.now()) : null;
    undo = () => drill.end(mesh, load);
    await report.step(`cause: ${drill.purpose}`, () => drill.cause(mesh, load));
    await report.step('effect seen', () =>
      eventually(() => drill.effect(mesh, load), EFFECT_MS_MAX),
    );
    if (alerts === null) report.note('without --observe nothing is proved about alerts');
    await alerts?.expectFiring(drill.alerts);
    report.startClock();
    await report.step('end of the cause', undo);
    undo = async () => undefined;
    await report.step('recovered', () =>
      eventually(() => drill.recovered(mesh, load), RECOVERED_MS_MAX),
    );
    report.stopClock();
    if (alerts !== null) await report.step('alerts ended', () => alerts.expectEnded(drill.alerts));
    await report.step('load ended', () => load.stop());
    report.note(`${load.lives()} lives, ${load.failures()} calls repeated`);
    const problems = await report.step('books compared', () => load.verify());
    report.check(
      'nothing lost, nothing doubled, books agree',
      problems.length === 0,
      problems.join(', '),
    );
  } finally {
    // What is frozen does not stop.
    await undo().catch(() => undefined);
    await stopMesh(home);
    await drill.cleanUp?.(home);
  }
  return report.end();
}
