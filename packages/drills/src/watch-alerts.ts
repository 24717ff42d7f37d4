import { eventually } from '@pixmesh/testkit/eventually';

import type { DrillMesh } from './mesh/drill-mesh.ts';
import type { Report } from './report.ts';

const SECOND_MS = 1_000;
/** What a cause wakes, fires so soon after its `for`. */
const LATE_SECONDS_MAX = 120;
/** The longest `for` of an alert that a drill makes fire, and what it may be late. */
const FIRING_MS_MAX = 1_200_000;
/** Some look at the last five minutes. */
const ENDED_MS_MAX = 420_000;

/** An alerting rule as Prometheus answers it. */
type Rule = { name: string; duration: number; state: string };

/** What a drill expects of Prometheus beside its mesh. */
export type AlertWatch = {
  /** Every alert fires, in time. */
  expectFiring(names: readonly string[]): Promise<void>;
  /** None of them fires any more. */
  expectEnded(names: readonly string[]): Promise<void>;
};

/** None of them fires or is about to: what fires afterwards is of the cause. */
export async function expectInactive(mesh: DrillMesh, names: readonly string[]): Promise<void> {
  await eventually(async () => {
    const active = (await readRules(mesh)).filter(({ state }) => state !== 'inactive');
    const left = active.filter(({ name }) => names.includes(name));
    if (left.length > 0) throw new Error(`active: ${left.map(({ name }) => name).join(', ')}`);
  }, ENDED_MS_MAX);
}

/** `causedMs` is the time of the cause, of `performance.now()`. */
export function watchAlerts(mesh: DrillMesh, report: Report, causedMs: number): AlertWatch {
  return { expectFiring, expectEnded };

  async function expectFiring(names: readonly string[]): Promise<void> {
    const waiting = new Set(names);
    await eventually(async () => {
      for (const { name, duration, state } of await readRules(mesh)) {
        if (state === 'firing' && waiting.delete(name)) record(name, duration);
      }
      if (waiting.size > 0) throw new Error(`not firing: ${[...waiting].join(', ')}`);
    }, FIRING_MS_MAX);
  }

  function record(name: string, forSeconds: number): void {
    const late = Math.round((performance.now() - causedMs) / SECOND_MS - forSeconds);
    const what = `${name} fires ${late} s after its \`for\` of ${forSeconds} s`;
    report.check(what, late <= LATE_SECONDS_MAX);
  }

  async function expectEnded(names: readonly string[]): Promise<void> {
    await eventually(async () => {
      const firing = (await readRules(mesh)).filter(({ state }) => state === 'firing');
      const left = firing.filter(({ name }) => names.includes(name));
      if (left.length > 0) throw new Error(`firing: ${left.map(({ name }) => name).join(', ')}`);
    }, ENDED_MS_MAX);
  }
}

export async function readRules(mesh: DrillMesh): Promise<Rule[]> {
  const answer = await fetch(`${mesh.stack().prometheus_url}/api/v1/rules?type=alert`);
  const { data } = (await answer.json()) as { data: { groups: { rules: Rule[] }[] } };
  return data.groups.flatMap(({ rules }) => rules);
}
