import { readFileSync } from 'node:fs';

import type { Stack } from './with-stack.ts';

const BYTES_PER_MB = 1_000_000;

/** What each process of the stack has in memory now, in MB, by its name. */
export function residentMemoryMb(stack: Stack): Map<string, number> {
  return new Map(Object.entries(stack.pids).map(([name, pid]) => [name, residentMb(pid)]));
}

/** Those whose health is asked by themselves. */
export function servicesOf(stack: Stack): string[] {
  return Object.keys(stack.internal_urls);
}

/** 0 where there is no /proc. */
function residentMb(pid: number): number {
  try {
    const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return (Number(kb) * 1_024) / BYTES_PER_MB;
  } catch {
    return 0;
  }
}
