import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { endProcesses, killMarked, type StackProcess } from './end-processes.ts';

/**
 * Outlives the supervisor by a moment: it holds one end of a pipe, and when the pipe closes, however
 * the supervisor died, it ends every process that was registered and not taken back.
 */

/** Per stage and signal; the guardian is done after a few seconds in every case. */
const STAGE_LIMIT_MS = 3_000;

export type GuardianMessage =
  | { kind: 'started'; process: StackProcess }
  | { kind: 'ended'; pid: number };

const [runMark, ...filesToRemove] = process.argv.slice(2);
const registered = new Map<number, StackProcess>();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as GuardianMessage;
  if (message.kind === 'started') registered.set(message.process.pid, message.process);
  else registered.delete(message.pid);
}

await endProcesses([...registered.values()], STAGE_LIMIT_MS);
if (runMark) killMarked(runMark);
for (const file of filesToRemove) rmSync(file, { force: true });
