import { setTimeout as delay } from 'node:timers/promises';

import { startLightLoad } from './load/light-load.ts';
import { clearHome, type DrillMesh, startMesh, stopMesh } from './mesh/drill-mesh.ts';
import { tryPanels } from './panels.ts';
import { createReport } from './report.ts';
import { readRules } from './watch-alerts.ts';

const MINUTE_MS = 60_000;
const POLL_MS = 5_000;
/** It always fires. */
const DEAD_MANS_SWITCH = 'DeadMansSwitch';

/** Light load without a fault: no alert fires, and every panel of the dashboards has data. */
export async function runNoFault(options: { home: string; minutes: number }): Promise<boolean> {
  const { home, minutes } = options;
  const report = createReport('no-fault');
  await clearHome(home);
  try {
    const mesh = await report.step('start', () => startMesh(home, { isObserved: true }));
    const load = await startLightLoad(mesh);
    const fired = await report.step(`${minutes} minutes`, () =>
      watchSilence(mesh, minutes * MINUTE_MS),
    );
    report.check('no alert has fired', fired.size === 0, [...fired].join(', '));
    const { count, empty } = await tryPanels(mesh);
    report.check(`${count} queries of panels have data`, empty.length === 0, empty.join(', '));
    await report.step('load ended', () => load.stop());
    report.note(`${load.lives()} lives, ${load.failures()} calls repeated`);
    const problems = await report.step('books compared', () => load.verify());
    report.check('nothing lost, books agree', problems.length === 0, problems.join(', '));
  } finally {
    await stopMesh(home);
  }
  return report.end();
}

async function watchSilence(mesh: DrillMesh, ms: number): Promise<Set<string>> {
  const fired = new Set<string>();
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs) {
    await delay(POLL_MS);
    for (const { name, state } of await readRules(mesh)) {
      if (state === 'firing' && name !== DEAD_MANS_SWITCH) fired.add(name);
    }
  }
  return fired;
}
