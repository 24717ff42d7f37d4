import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { answersOk } from '../http-call.ts';
import { inheritedEnvironment } from '../inherited-environment.ts';
import { REPOSITORY_ROOT } from '../repository.ts';
import { StartupFailure } from '../startup-failure.ts';
import { type ChildSpec, type JobSpec, STAGES } from '../supervisor/child-spec.ts';
import type { MeshService } from './mesh-services.ts';
import type { MeshSettings } from './mesh-settings.ts';
import { internalOriginOf, renderServiceEnvironment } from './service-environment.ts';

const READY_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 10_000;
const JOB_LIMIT_MS = 120_000;
const REQUEST_LIMIT_MS = 3_000;
/** Compiled sources, kept between processes: half of the time that a service takes to start is compiling. */
const COMPILE_CACHE = join(REPOSITORY_ROOT, 'node_modules', '.cache', 'node-compile');

/** How the supervisor runs one service; the telemetry preload has to come before any other module. */
export function describeServiceProcess(service: MeshService, settings: MeshSettings): ChildSpec {
  const entry = join('services', service.name, 'src', 'main.ts');
  if (!existsSync(join(REPOSITORY_ROOT, entry))) throw new StartupFailure(`${entry} is missing`);
  const ready = `${internalOriginOf(service, settings)}/readyz`;
  return {
    name: service.name,
    command: process.execPath,
    args: ['--enable-source-maps', '--import', '@pixmesh/telemetry/preload', entry],
    env: { ...serviceBaseEnvironment(), ...renderServiceEnvironment(service, settings) },
    cwd: REPOSITORY_ROOT,
    stage: STAGES.service,
    stopSignal: 'SIGTERM',
    stopLimitMs: STOP_LIMIT_MS,
    readyLimitMs: READY_LIMIT_MS,
    isReady: () => answersOk(ready, REQUEST_LIMIT_MS),
  };
}

/** A run of the deploy job; `variant` picks what it does. */
export function describeDeployJob(
  name: string,
  variant: readonly string[],
  env: Readonly<Record<string, string>>,
): JobSpec {
  return {
    name,
    command: process.execPath,
    args: ['--enable-source-maps', join('deploy', 'main.ts'), ...variant],
    env: { ...serviceBaseEnvironment(), ...env },
    cwd: REPOSITORY_ROOT,
    limitMs: JOB_LIMIT_MS,
  };
}

/** Limits and periods of services, which experiments and tests set for the whole mesh. */
const TUNING = /_(MS|MS_MAX|MAX|SIZE)$/;
const PASSED = new Set(['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'LOG_LEVEL']);

/**
 * Services get their settings from the table alone: a DATABASE_URL of the person's shell must not
 * reach them. What stays is what processes need in general, and tuning that is meant for them.
 */
function serviceBaseEnvironment(): Record<string, string> {
  const inherited = Object.entries(inheritedEnvironment());
  const kept = inherited.filter(([name]) => PASSED.has(name) || TUNING.test(name));
  return { ...Object.fromEntries(kept), NODE_COMPILE_CACHE: COMPILE_CACHE };
}
