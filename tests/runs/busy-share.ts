import { cpus } from 'node:os';

/** The share of all cores that is busy until some work has ended, with whatever else the machine does. */
export async function busyShare<T>(work: Promise<T>): Promise<{ share: number; done: T }> {
  const before = coreTimes();
  const done = await work;
  const after = coreTimes();
  return { share: 1 - (after.idle - before.idle) / (after.all - before.all), done };
}

function coreTimes(): { idle: number; all: number } {
  const times = cpus().map((core) => core.times);
  const idle = sumOf(times.map((time) => time.idle));
  return { idle, all: sumOf(times.flatMap((time) => Object.values(time))) };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
