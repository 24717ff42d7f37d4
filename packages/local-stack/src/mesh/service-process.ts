import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { serverEnvironment } from '../inherited-environment.ts';
import { REPOSITORY_ROOT } from '../repository.ts';
import { withSecretFiles } from '../secret-files.ts';
import { StartupFailure } from '../startup-failure.ts';
import { type ChildSpec, type JobSpec, STAGES } from '../supervisor/child-spec.ts';
import type { MeshService } from './mesh-services.ts';
import type { MeshSettings } from './mesh-settings.ts';
import { internalOriginOf, renderServiceEnvironment } from './service-environment.ts';
import { isServiceReady } from './service-readiness.ts';
import { sourcesOf } from './sources.ts';

const READY_LIMIT_MS = 60_000;
/** As long as a service gives itself. */
const STOP_LIMIT_MS = 20_000;
const JOB_LIMIT_MS = 120_000;
/** Compiled sources, kept between processes: half of the time that a service takes to start is compiling. */
const COMPILE_CACHE = join(REPOSITORY_ROOT, 'node_modules', '.cache', 'node-compile');

/**
 * As in the images (`deploy/Dockerfile`): what a service may keep in memory (ADRs 0044 and 0049), and one thread of V8
 * beside the program's own (ADR 0051).
 */
export const NODE_FLAGS = [
  '--max-semi-space-size=8',
  '--max-old-space-size=256',
  '--v8-pool-size=1',
];
export const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' };

/** How the supervisor runs one service; the telemetry preload has to come before any other module. */
export function describeServiceProcess(service: MeshService, settings: MeshSettings): ChildSpec {
  const { name } = service;
  const entry = join('services', name, 'src', 'main.ts');
  if (!existsSync(join(sourcesOf(name), entry))) throw new StartupFailure(`${entry} is missing`);
  const origin = internalOriginOf(service, settings);
  const { env, prepare } = withSecretFiles(
    { home: settings.home, name },
    renderServiceEnvironment(service, settings),
  );
  return {
    name,
    command: process.execPath,
    args: [...NODE_FLAGS, '--import', '@pixmesh/telemetry/preload', entry],
    env: { ...serviceBaseEnvironment(), ...ALLOCATOR, ...env },
    prepare,
    cwd: sourcesOf(name),
    stage: STAGES.service,
    stopSignal: 'SIGTERM',
    stopLimitMs: STOP_LIMIT_MS,
    readyLimitMs: READY_LIMIT_MS,
    isReady: ({ pid }) => isServiceReady(origin, pid),
  };
}

/** A run of the deploy job; `variant` picks what it does. */
export function describeDeployJob(
  owner: { home: string; name: string },
  variant: readonly string[],
  values: Readonly<Record<string, string>>,
): JobSpec {
  const { name } = owner;
  const { env, prepare } = withSecretFiles(owner, values);
  return {
    name,
    command: process.execPath,
    args: [join('deploy', 'main.ts'), ...variant],
    env: { ...serviceBaseEnvironment(), ...env },
    prepare,
    cwd: sourcesOf(name),
    limitMs: JOB_LIMIT_MS,
  };
}

/** Everything else comes from the table of services and the settings that a schema names. */
function serviceBaseEnvironment(): Record<string, string> {
  return { ...serverEnvironment(), NODE_COMPILE_CACHE: COMPILE_CACHE };
}
