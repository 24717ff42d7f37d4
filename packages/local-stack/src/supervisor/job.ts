import { StartupFailure } from '../startup-failure.ts';
import { startProcess } from './child-process.ts';
import { STAGES } from './child-spec.ts';
import { createLogFile } from './log-file.ts';
import type { ProcessRegister } from './process-register.ts';

/** A process that is run once, to its end. */
export interface JobSpec {
  name: string;
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  owner?: { uid: number; gid: number } | undefined;
  limitMs: number;
}

const SHOWN_LOG_LINES = 15;
const STOP_LIMIT_MS = 2_000;

/** Runs a job within its limit; the stop of the stack ends it too. */
export async function runJob(
  spec: JobSpec,
  deps: { home: string; register: ProcessRegister; signal: AbortSignal },
): Promise<void> {
  const log = createLogFile(deps.home, spec.name);
  const job = await startProcess({ ...spec, log });
  const hooks = deps.register.hooksFor({
    name: spec.name,
    stage: STAGES.job,
    stopSignal: 'SIGTERM',
  });
  hooks.onStarted(job);
  const end = () => void job.end('SIGTERM', STOP_LIMIT_MS);
  const timer = setTimeout(end, spec.limitMs);
  deps.signal.addEventListener('abort', end, { once: true });
  const exit = await job.exited;
  clearTimeout(timer);
  deps.signal.removeEventListener('abort', end);
  hooks.onEnded(job);
  if (exit.code === 0) return;
  const how = exit.signal ? `was ended by ${exit.signal}` : `failed with exit code ${exit.code}`;
  const lines = log.lastLines(SHOWN_LOG_LINES);
  throw new StartupFailure(`${spec.name} ${how} (log: ${log.path})`, lines);
}
