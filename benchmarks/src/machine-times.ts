import { cpus } from 'node:os';

import { sumOf } from './rounds.ts';

/** Milliseconds of all cores since the start of the machine. */
type MachineTimes = { idle: number; all: number };

export function machineTimes(): MachineTimes {
  const times = cpus().map((cpu) => cpu.times);
  return {
    idle: sumOf(times, ({ idle }) => idle),
    all: sumOf(times.flatMap(Object.values<number>), (ms) => ms),
  };
}

/** How much of all cores was in use since `before`, by all processes. */
export function busyPercentSince(before: MachineTimes): number {
  const { idle, all } = machineTimes();
  return 100 * (1 - (idle - before.idle) / (all - before.all));
}
