import { parseArgs } from 'node:util';

import { requestScale } from '@pixmesh/local-stack/mesh/control-client';
import { processName } from '@pixmesh/local-stack/mesh/scale';
import { readStackFile } from '@pixmesh/local-stack/mesh/stack-file';

import { type Aim, atLeast, atMost, printAims } from '../aims.ts';
import { keepBusy } from '../closed-loop.ts';
import { cpuTimeMs, cpuTimeSince } from '../cpu-time.ts';
import { describeMachine } from '../durable-server.ts';
import type { LifeDeps } from '../lives/life-kinds.ts';
import { withMesh } from '../lives/with-mesh.ts';
import { busyPercentSince, machineTimes } from '../machine-times.ts';
import { sumOf } from '../rounds.ts';
import type { Stack } from '../with-stack.ts';
import { boundCpu } from './cpu-bound.ts';
import { SCALING_FLOWS, type ScalingFlow } from './scaling-flows.ts';

const PROCESSES = [1, 2, 4];
/** Of a core, for each process of the service that is measured. */
const SHARE = 0.05;
/** For each process: more would wait for longer than a call may take. */
const CLIENTS = 16;
/** Of all processes, without a bound. */
const WARM_UP_SECONDS = 60;
/** With the bound, before anything counts. */
const SETTLE_SECONDS = 5;
const TIMES_MIN = 1.7;
/** Above it the machine would be what bounds the rate. */
const BUSY_PERCENT_MAX = 70;
/** Of what the bounded processes may use; below it something else bounds the rate. */
const USED_PERCENT_MIN = 90;
/** No check of what waits to be paid falls into a measurement: it would be a fixed load, shared by more processes. */
const CHECKED_LATER = { READ_BACK_PENDING_MS: '3600000', READ_BACK_PENDING_MS_MAX: '3600000' };

type Measured = { perSecond: number; busyPercent: number; usedPercent: number };

/**
 * Each service at one, two and four processes, each of them held to a twentieth of a core while all else is free: how
 * much more is done by twice as many.
 */
export async function benchScaling(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      only: { type: 'string', default: '' },
      seconds: { type: 'string', default: '30' },
    },
  });
  const flows = SCALING_FLOWS.filter(({ name }) => name.startsWith(values.only));
  if (flows.length === 0) throw new Error(`no flow begins with "${values.only}"`);
  console.log(describeMachine());
  const aims: Aim[] = [];
  await withMesh(null, { statements: false, env: CHECKED_LATER }, async (stack, deps) => {
    for (const flow of flows) {
      aims.push(...(await measureFlow({ stack, deps, flow, seconds: Number(values.seconds) })));
    }
  });
  printAims(aims);
}

type Play = { stack: Stack; deps: LifeDeps; flow: ScalingFlow; seconds: number };

async function measureFlow(play: Play): Promise<Aim[]> {
  const { name, service } = play.flow;
  const most = Math.max(...PROCESSES);
  await requestScale(play.stack.home, new Map([[service, most]]));
  await play.flow.prepare?.(play.deps);
  await keepBusyWith(play, { count: most, seconds: WARM_UP_SECONDS });
  const found: Measured[] = [];
  // From the most to one: none that has just started, and has yet to compile its code, is measured.
  for (const count of PROCESSES.toReversed()) {
    await requestScale(play.stack.home, new Map([[service, count]]));
    const measured = await measureBounded(play, count);
    const { perSecond, busyPercent, usedPercent } = measured;
    console.log(
      `${name.padEnd(26)} ${count} x ${service.padEnd(18)} ${perSecond.toFixed(1).padStart(6)}/s  ` +
        `they use ${usedPercent.toFixed(0)} % of their share, the machine is ${busyPercent.toFixed(0)} % busy`,
    );
    found.unshift(measured);
  }
  return aimsOf(name, found);
}

function aimsOf(name: string, found: readonly Measured[]): Aim[] {
  const steps = found.slice(1).map(({ perSecond }, index) => {
    const step = `${PROCESSES[index]} -> ${PROCESSES[index + 1]}`;
    return atLeast(`${name}: ${step}`, perSecond / (found[index]?.perSecond ?? NaN), TIMES_MIN);
  });
  const busy = Math.max(...found.map(({ busyPercent }) => busyPercent));
  const used = Math.min(...found.map(({ usedPercent }) => usedPercent));
  return [
    ...steps,
    atMost(`${name}: % of the machine`, busy, BUSY_PERCENT_MAX),
    atLeast(`${name}: % of their share`, used, USED_PERCENT_MIN),
  ];
}

async function keepBusyWith(
  { flow, deps }: Play,
  { count, seconds }: { count: number; seconds: number },
): Promise<{ count: number; seconds: number }> {
  return await keepBusy({ workers: CLIENTS * count, seconds }, () => flow.doOne(deps));
}

async function measureBounded(play: Play, count: number): Promise<Measured> {
  const { stack, deps, flow, seconds } = play;
  await flow.prepare?.(deps);
  const pids = pidsOf(stack, flow.service, count);
  using _bound = boundCpu(Object.values(pids), SHARE);
  await keepBusyWith(play, { count, seconds: SETTLE_SECONDS });
  const before = { machine: machineTimes(), own: cpuTimeMs(pids) };
  const done = await keepBusyWith(play, { count, seconds });
  const busyPercent = busyPercentSince(before.machine);
  const usedMs = sumOf(Object.values(cpuTimeSince(before.own, pids)), (ms) => ms);
  return {
    perSecond: done.count / done.seconds,
    busyPercent,
    usedPercent: (100 * usedMs) / (SHARE * count * done.seconds * 1_000),
  };
}

function pidsOf(stack: Stack, service: string, count: number): Record<string, number> {
  const { pids } = readStackFile(stack.home);
  const names = Array.from({ length: count }, (_, index) => processName(service, index + 1));
  return Object.fromEntries(
    names.map((name) => {
      const pid = pids[name];
      if (pid === undefined) throw new Error(`${name} does not run`);
      return [name, pid];
    }),
  );
}
