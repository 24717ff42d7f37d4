import { StartupFailure } from '../startup-failure.ts';
import { startProcess } from './child-process.ts';
import { type JobSpec, STAGES } from './child-spec.ts';
import { createLogFile } from './log-file.ts';
import type { ProcessRegister } from './process-register.ts';

const STOP_LIMIT_MS = 2_000;

/** Runs a job within its limit; the stop of the stack ends it too. */
export async function runJob(
  spec: JobSpec,
  deps: { home: string; register: ProcessRegister; signal: AbortSignal },
): Promise<void> {
  const log = createLogFile(deps.home, spec.name);
  await spec.prepare?.();
  const job = await startProcess(spec, log);
  deps.register.track({ name: spec.name, stage: STAGES.job, stopSignal: 'SIGTERM' }, job);
  const end = () => void job.end('SIGTERM', STOP_LIMIT_MS);
  const timer = setTimeout(end, spec.limitMs);
  deps.signal.addEventListener('abort', end, { once: true });
  // The stop may have begun while it was starting.
  if (deps.signal.aborted) end();
  const exit = await job.exited;
  clearTimeout(timer);
  deps.signal.removeEventListener('abort', end);
  if (exit.code === 0) return;
  const how = exit.signal ? `was ended by ${exit.signal}` : `failed with exit code ${exit.code}`;
  const lines = log.lastLines();
  throw new StartupFailure(`${spec.name} ${how} (log: ${log.path})`, lines);
}
