import { inheritedEnvironment } from '../inherited-environment.ts';
import { STAGES } from '../supervisor/child-spec.ts';
import { REGISTRY, findRunnerJar } from './artifacts.ts';
import { requireJava } from './find-program.ts';
import type { BootDeps } from './infra-provider.ts';
import { installArtifact } from './install-artifact.ts';
import { answersSubjects } from './registry-api.ts';

const READY_LIMIT_MS = 90_000;
const STOP_LIMIT_MS = 5_000;
const JVM_OPTIONS = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/**
 * Starts the schema registry on a database of its own, so that schema ids survive a restart; answers
 * its origin.
 */
export async function startRegistry(
  deps: BootDeps,
  input: { port: number; databaseUrl: string },
): Promise<string> {
  const java = await requireJava();
  const folder = await installArtifact(deps, REGISTRY);
  const origin = `http://127.0.0.1:${input.port}`;
  await deps.supervisor.start({
    name: 'registry',
    command: java,
    args: [...JVM_OPTIONS, '-jar', findRunnerJar(folder)],
    env: {
      ...inheritedEnvironment(),
      QUARKUS_HTTP_HOST: '127.0.0.1',
      QUARKUS_HTTP_PORT: String(input.port),
      ...storageVariables(input.databaseUrl),
    },
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
    APICURIO_DATASOURCE_URL: `jdbc:postgresql://${url.hostname}:${url.port || '5432'}${url.pathname}`,
    APICURIO_DATASOURCE_USERNAME: decodeURIComponent(url.username),
    APICURIO_DATASOURCE_PASSWORD: decodeURIComponent(url.password),
  };
}
