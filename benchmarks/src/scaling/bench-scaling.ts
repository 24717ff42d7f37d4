import { cpus } from 'node:os';
import { parseArgs } from 'node:util';

import { requestScale } from '@pixmesh/local-stack/mesh/control-client';
import { processName } from '@pixmesh/local-stack/mesh/scale';
import { readStackFile } from '@pixmesh/local-stack/mesh/stack-file';

import { type Aim, atLeast, atMost, printAims } from '../aims.ts';
import { keepBusy } from '../closed-loop.ts';
import { describeMachine } from '../durable-server.ts';
import type { LifeDeps } from '../lives/life-kinds.ts';
import { withMesh } from '../lives/with-mesh.ts';
import type { Stack } from '../with-stack.ts';
import { boundCpu } from './cpu-bound.ts';
import { SCALING_FLOWS, type ScalingFlow } from './scaling-flows.ts';

const PROCESSES = [1, 2, 4];
/** Of a core, for each process of the service that is measured. */
const SHARE = 0.05;
/** For each process: more would wait for longer than a call may take. */
const CLIENTS = 16;
/** Without a bound: a process that has just started compiles its code. */
const WARM_UP_SECONDS = 25;
/** With the bound, before anything counts. */
const SETTLE_SECONDS = 5;
const TIMES_MIN = 1.7;
/** Above it the machine would be what bounds the rate. */
const BUSY_PERCENT_MAX = 70;

type Measured = { perSecond: number; busyPercent: number };

/**
 * Each service at one, two and four processes, each of them held to a twentieth of a core while all else is free: how
 * much more is done by twice as many.
 */
export async function benchScaling(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { only: { type: 'string' }, seconds: { type: 'string', default: '30' } },
  });
  const flows = SCALING_FLOWS.filter(({ name }) => !values.only || name.startsWith(values.only));
  console.log(describeMachine());
  const aims: Aim[] = [];
  await withMesh(null, { statements: false }, async (stack, deps) => {
    for (const flow of flows) {
      aims.push(...(await measureFlow({ stack, deps, flow, seconds: Number(values.seconds) })));
    }
  });
  printAims(aims);
}

type Play = { stack: Stack; deps: LifeDeps; flow: ScalingFlow; seconds: number };

async function measureFlow(play: Play): Promise<Aim[]> {
  const { name, service } = play.flow;
  const found: Measured[] = [];
  for (const count of PROCESSES) {
    await requestScale(play.stack.home, new Map([[service, count]]));
    const measured = await measureBounded(play, count);
    const { perSecond, busyPercent } = measured;
    console.log(
      `${name.padEnd(28)} ${count} x ${service.padEnd(20)} ${perSecond.toFixed(1).padStart(7)}/s  machine ${busyPercent.toFixed(0)} % busy`,
    );
    found.push(measured);
  }
  await requestScale(play.stack.home, new Map([[service, 1]]));
  return [
    ...found.slice(1).map(({ perSecond }, index) => {
      const step = `${PROCESSES[index]} -> ${PROCESSES[index + 1]}`;
      return atLeast(`${name}: ${step}`, perSecond / (found[index]?.perSecond ?? 0), TIMES_MIN);
    }),
    atMost(
      `${name}: % of the machine`,
      Math.max(...found.map(({ busyPercent }) => busyPercent)),
      BUSY_PERCENT_MAX,
    ),
  ];
}

async function measureBounded(
  { stack, deps, flow, seconds }: Play,
  count: number,
): Promise<Measured> {
  const busyFor = (time: number) =>
    keepBusy({ workers: CLIENTS * count, seconds: time }, () => flow.doOne(deps));
  await flow.prepare?.(deps);
  await busyFor(WARM_UP_SECONDS);
  await flow.prepare?.(deps);
  const { pids } = readStackFile(stack.home);
  const names = Array.from({ length: count }, (_, index) => processName(flow.service, index + 1));
  using _bound = boundCpu(
    names.map((name) => pidOf(pids, name)),
    SHARE,
  );
  await busyFor(SETTLE_SECONDS);
  const before = machineTimes();
  const done = await busyFor(seconds);
  const after = machineTimes();
  const busyPercent = 100 * (1 - (after.idle - before.idle) / (after.all - before.all));
  return { perSecond: done.count / done.seconds, busyPercent };
}

function pidOf(pids: Readonly<Record<string, number>>, name: string): number {
  const pid = pids[name];
  if (pid === undefined) throw new Error(`${name} does not run`);
  return pid;
}

/** Milliseconds of all cores since the start of the machine. */
function machineTimes(): { idle: number; all: number } {
  const times = cpus().map((cpu) => cpu.times);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    idle: sum(times.map(({ idle }) => idle)),
    all: sum(times.flatMap((time) => Object.values(time))),
  };
}
