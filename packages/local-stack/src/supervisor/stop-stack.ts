import { rmSync } from 'node:fs';
import type { Progress } from '../progress.ts';
import { killGroup, signalProcess, waitUntilGone } from './end-processes.ts';
import { cleanUp, type PidFile, readPidFile } from './pid-file.ts';
import { runFiles } from './run-files.ts';

/** Longer than a service's own limit plus the infrastructure's. */
const STOP_LIMIT_MS = 30_000;
const KILL_LIMIT_MS = 15_000;

/** Ends the stack of a home, wherever it was started, and resolves when every process is gone. */
export async function stopStack(home: string, log: Progress): Promise<void> {
  const file = readPidFile(home);
  if (!file) {
    log.line(`no stack is running in ${home}`);
    return;
  }
  log.line(`stopping the stack in ${home}`);
  signalProcess(file.supervisor, 'SIGTERM');
  const all = everyProcess(file);
  if (!(await log.waiting('the stack to stop', waitUntilGone(all, STOP_LIMIT_MS)))) {
    log.line('it does not stop; killing it');
    killGroup(file.supervisor);
    await waitUntilGone(everyProcess(file), KILL_LIMIT_MS);
  }
  await cleanUp(file, log);
  for (const path of runFiles(home)) rmSync(path, { force: true });
  log.line('stopped');
}

function everyProcess(file: PidFile) {
  return [file.supervisor, ...file.processes, ...(file.guardian ? [file.guardian] : [])];
}
