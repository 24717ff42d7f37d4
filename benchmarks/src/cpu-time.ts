import { readdirSync, readFileSync } from 'node:fs';

/** What Linux counts CPU time in. */
const MS_PER_TICK = 10;

/**
 * CPU milliseconds that each of these processes and everything it started have used so far, by name. Postgres works
 * in children of its own sessions, so the tree is followed by parent. Nothing where there is no /proc.
 */
export function cpuTimeMs(roots: Readonly<Record<string, number>>): Record<string, number> {
  const processes = readProcesses();
  const owners = new Map(Object.entries(roots).map(([name, pid]) => [pid, name]));
  // Children have higher pids than their parents except after a wrap-around; two passes find those as well.
  for (let pass = 0; pass < 2; pass += 1) {
    for (const { pid, parent } of processes) {
      const owner = owners.get(parent);
      if (owner !== undefined && !owners.has(pid)) owners.set(pid, owner);
    }
  }
  const used: Record<string, number> = {};
  for (const { pid, ticks } of processes) {
    const owner = owners.get(pid);
    if (owner !== undefined) used[owner] = (used[owner] ?? 0) + ticks * MS_PER_TICK;
  }
  return used;
}

/** What each has used since it had used `before`. */
export function cpuTimeSince(
  before: Readonly<Record<string, number>>,
  roots: Readonly<Record<string, number>>,
): Record<string, number> {
  const used = Object.entries(cpuTimeMs(roots));
  return Object.fromEntries(used.map(([name, ms]) => [name, ms - (before[name] ?? 0)]));
}

/** By name, for each of `count` things that were done; the greatest first. */
export function sharesOf(cpuMs: Readonly<Record<string, number>>, count: number) {
  const shares = Object.entries(cpuMs).map(([name, ms]) => [name, ms / count] as const);
  return shares.toSorted(([, a], [, b]) => b - a);
}

function readProcesses(): { pid: number; parent: number; ticks: number }[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => readProcess(Number(name)) ?? []);
  } catch {
    return [];
  }
}

/** `ticks` includes children that have ended: their time is not lost from the sum. */
function readProcess(pid: number): { pid: number; parent: number; ticks: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0);
    return { pid, parent: Number(fields[1]), ticks };
  } catch {
    return undefined;
  }
}
