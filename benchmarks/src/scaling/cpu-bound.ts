import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Where the second version of control groups has all controllers, and the first that of CPU time. */
const CONTROL_GROUPS = '/sys/fs/cgroup';
const CPU_CONTROLLER = path.join(CONTROL_GROUPS, 'cpu');
const PERIOD_US = 100_000;

/**
 * Keeps each of the processes, with all its threads, to a share of a core until it is disposed. Needs Linux and the
 * right to make control groups.
 */
export function boundCpu(pids: readonly number[], share: number): Disposable {
  const root = existsSync(CPU_CONTROLLER) ? CPU_CONTROLLER : CONTROL_GROUPS;
  const groups = pids.map((pid) => {
    const group = path.join(root, `pixmesh-bench-${pid}`);
    mkdirSync(group, { recursive: true });
    limit(group, Math.round(share * PERIOD_US));
    moveTo(group, pid);
    return { group, pid };
  });
  return {
    [Symbol.dispose]: () => {
      for (const { group, pid } of groups) {
        moveTo(root, pid);
        rmdirSync(group);
      }
    },
  };
}

function limit(group: string, quotaUs: number): void {
  if (path.dirname(group) === CONTROL_GROUPS) {
    writeFileSync(path.join(group, 'cpu.max'), `${quotaUs} ${PERIOD_US}`);
    return;
  }
  writeFileSync(path.join(group, 'cpu.cfs_period_us'), String(PERIOD_US));
  writeFileSync(path.join(group, 'cpu.cfs_quota_us'), String(quotaUs));
}

function moveTo(group: string, pid: number): void {
  writeFileSync(path.join(group, 'cgroup.procs'), String(pid));
}
