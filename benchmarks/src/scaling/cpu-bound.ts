import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Where the second version of control groups has all controllers, and the first that of CPU time. */
const CONTROL_GROUPS = '/sys/fs/cgroup';
const CPU_CONTROLLER = path.join(CONTROL_GROUPS, 'cpu');
const PERIOD_US = 100_000;

/**
 * Keeps each of the processes, with all its threads, to a share of a core until it is disposed. Needs Linux and the
 * right to make control groups; of their second version also the controller `cpu` in `cgroup.subtree_control`.
 */
export function boundCpu(pids: readonly number[], share: number): Disposable {
  using undo = new DisposableStack();
  for (const pid of pids) {
    const { root, isFirstVersion, former } = groupOf(pid);
    const group = path.join(root, `pixmesh-bench-${pid}`);
    mkdirSync(group, { recursive: true });
    undo.defer(() => rmdirSync(group));
    limit(group, { isFirstVersion, quotaUs: Math.round(share * PERIOD_US) });
    moveTo(group, pid);
    undo.defer(() => {
      if (existsSync(`/proc/${pid}`)) moveTo(former, pid);
    });
  }
  return undo.move();
}

/** The folder of the group that the process is in, in the hierarchy that bounds CPU time. */
function groupOf(pid: number): { root: string; isFirstVersion: boolean; former: string } {
  const isFirstVersion = existsSync(CPU_CONTROLLER);
  const root = isFirstVersion ? CPU_CONTROLLER : CONTROL_GROUPS;
  const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n');
  const line = lines.find((one) => {
    const controllers = one.split(':')[1] ?? '';
    return isFirstVersion ? controllers.split(',').includes('cpu') : controllers === '';
  });
  return { root, isFirstVersion, former: path.join(root, line?.split(':')[2] ?? '') };
}

function limit(group: string, of: { isFirstVersion: boolean; quotaUs: number }): void {
  if (of.isFirstVersion) {
    writeFileSync(path.join(group, 'cpu.cfs_period_us'), String(PERIOD_US));
    writeFileSync(path.join(group, 'cpu.cfs_quota_us'), String(of.quotaUs));
    return;
  }
  writeFileSync(path.join(group, 'cpu.max'), `${of.quotaUs} ${PERIOD_US}`);
}

function moveTo(group: string, pid: number): void {
  writeFileSync(path.join(group, 'cgroup.procs'), String(pid));
}
