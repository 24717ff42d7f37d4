import { setTimeout as delay } from 'node:timers/promises';

import { cpuTimeMs, cpuTimeSince, sharesOf } from '../cpu-time.ts';
import { residentMemoryMb, servicesOf } from '../resident-memory.ts';
import { sumOf } from '../rounds.ts';
import type { Stack } from '../with-stack.ts';
import { readCommits } from './mesh-counters.ts';

const IDLE_SECONDS = 60;
/** What the start has left behind is done by then. */
const SETTLE_MS = 12_000;

const INFRA = new Set(['kafka', 'postgres']);

/** What a mesh with nothing to do costs: per cent of a core, and memory. */
export type Idle = { services: number; infra: number; memoryMbMax: number };

/** Prints a line for each process: per cent of a core, and its memory at the end. */
export async function measureIdle(stack: Stack): Promise<Idle> {
  await delay(SETTLE_MS);
  const commitsBefore = await readCommits(stack);
  const before = cpuTimeMs(stack.pids);
  await delay(IDLE_SECONDS * 1_000);
  const cpuMs = cpuTimeSince(before, stack.pids);
  const commits = (await readCommits(stack)) - commitsBefore;
  const memoryMb = residentMemoryMb(stack);
  const percent = (isInfra: boolean) =>
    sumOf(sharesOf(cpuMs, IDLE_SECONDS * 10), ([name, share]) =>
      INFRA.has(name) === isInfra ? share : 0,
    );
  const idle = {
    services: percent(false),
    infra: percent(true),
    memoryMbMax: Math.max(...servicesOf(stack).map((name) => memoryMb.get(name) ?? 0)),
  };
  console.log(
    `idle: ${idle.services.toFixed(1)} % of a core, Kafka and Postgres ${idle.infra.toFixed(1)} %, ` +
      `${(commits / IDLE_SECONDS).toFixed(0)} commits/s`,
  );
  for (const [name, share] of sharesOf(cpuMs, IDLE_SECONDS * 10)) {
    console.log(
      `    ${name.padEnd(20)} ${share.toFixed(2).padStart(6)} %  ${(memoryMb.get(name) ?? 0).toFixed(0).padStart(4)} MB`,
    );
  }
  return idle;
}
