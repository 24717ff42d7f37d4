import { join } from 'node:path';
import { serverEnvironment } from '../inherited-environment.ts';
import { STAGES } from '../supervisor/child-spec.ts';
import { REGISTRY, findRunnerJar } from './artifacts.ts';
import { requireJava } from './find-program.ts';
import type { BootDeps } from './infra-provider.ts';
import { installArtifact } from './install-artifact.ts';
import { QUICK_COMPILER } from './java-options.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';
import { answersSubjects } from './registry-api.ts';

const READY_LIMIT_MS = 90_000;
const STOP_LIMIT_MS = 5_000;
const JVM_OPTIONS = ['-Xmx256m', '-XX:+UseSerialGC', QUICK_COMPILER];

/**
 * Once the deploy job has written: the registry asks nobody for a proof, so it takes nothing more from anybody, and no
 * call can set that back.
 */
export const REGISTRY_READ_ONLY = {
  APICURIO_STORAGE_READ_ONLY_ENABLED: 'true',
  APICURIO_CONFIG_DYNAMIC_ALLOW_ALL: 'false',
};
/** For a deploy job on a stack that runs. */
export const REGISTRY_WRITABLE = {
  APICURIO_STORAGE_READ_ONLY_ENABLED: 'false',
  APICURIO_CONFIG_DYNAMIC_ALLOW_ALL: 'true',
};

/**
 * Starts the schema registry on a database of its own, so that schema ids survive a restart; answers
 * its origin.
 */
export async function startRegistry(
  deps: BootDeps,
  { home, port, databaseUrl }: { home: string; port: number; databaseUrl: string },
): Promise<string> {
  const java = await requireJava();
  const folder = await installArtifact(deps, REGISTRY);
  const login = join(home, 'data', 'registry.properties');
  const origin = `http://127.0.0.1:${port}`;
  await deps.supervisor.start({
    name: 'registry',
    command: java,
    args: [...JVM_OPTIONS, '-jar', findRunnerJar(folder)],
    env: {
      ...serverEnvironment(),
      QUARKUS_HTTP_HOST: '127.0.0.1',
      QUARKUS_HTTP_PORT: String(port),
      SMALLRYE_CONFIG_LOCATIONS: login,
      ...storageVariables(databaseUrl),
    },
    prepare: async () => writeFileAtomically(login, renderStorageLogin(databaseUrl)),
    cwd: folder,
    stage: STAGES.registry,
    stopSignal: 'SIGTERM',
    stopLimitMs: STOP_LIMIT_MS,
    readyLimitMs: READY_LIMIT_MS,
    isReady: () => answersSubjects(origin),
  });
  return origin;
}

/** Apicurio's variables for storage in Postgres. */
export function storageVariables(databaseUrl: string): Record<string, string> {
  const url = new URL(databaseUrl);
  return {
    APICURIO_STORAGE_KIND: 'sql',
    APICURIO_STORAGE_SQL_KIND: 'postgresql',
    APICURIO_DATASOURCE_URL: `jdbc:postgresql://${url.hostname}:${url.port || '5432'}${url.pathname}${url.search}`,
  };
}

/** Above the registry's built-in defaults (250), below its environment (300): a file has no say otherwise. */
const CONFIG_ORDINAL = 275;

/** User and password, as a properties file: not in the environment. */
export function renderStorageLogin(databaseUrl: string): string {
  const { username, password } = new URL(databaseUrl);
  return `config_ordinal=${CONFIG_ORDINAL}
apicurio.datasource.username=${decodeURIComponent(username)}
apicurio.datasource.password=${decodeURIComponent(password)}
`;
}
