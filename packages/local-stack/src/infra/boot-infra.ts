import { KAFKA, REDIS, REGISTRY } from './artifacts.ts';
import { bootContainers } from './containers.ts';
import { findProgram, requireJava, requireMaven } from './find-program.ts';
import type { BootInput, InfraProvider } from './infra-provider.ts';
import { isInstalled } from './install-artifact.ts';
import { startKafka } from './kafka-process.ts';
import {
  MESH_DATABASE,
  REGISTRY_DATABASE,
  createDatabases,
  withDatabase,
} from './postgres-databases.ts';
import { startPostgres } from './postgres-process.ts';
import { startRedis } from './redis-process.ts';
import { setGlobalCompatibility } from './registry-api.ts';
import { startRegistry } from './registry-process.ts';

export interface InfraUrls {
  /** Superuser, database `pixmesh`. */
  postgresUrl: string;
  kafkaBrokers: string[];
  /** Origin, without the path of an API. */
  registryUrl: string;
  redisUrl: string;
}

/** Brings all four parts up at once; only the registry waits, for its database. */
export async function bootInfra(input: BootInput): Promise<InfraUrls> {
  const given = readGiven(process.env);
  if (input.mode === 'processes') await requirePrograms(given);
  const provider = input.mode === 'processes' ? processProvider(input) : bootContainers(input);
  const [kafka, server, redis] = await Promise.all([
    bringUp(input, 'kafka', given.kafkaBrokers ?? provider.kafka),
    bringUpStores(input, given, provider),
    bringUp(input, 'redis', given.redisUrl ?? provider.redis),
  ]);
  return { ...server, kafkaBrokers: kafka.split(','), redisUrl: redis };
}

async function bringUpStores(
  input: BootInput,
  given: Given,
  provider: InfraProvider,
): Promise<Pick<InfraUrls, 'postgresUrl' | 'registryUrl'>> {
  const server = await bringUp(input, 'postgres', given.postgresUrl ?? provider.postgres);
  await createDatabases(server, [
    ...(given.postgresUrl ? [] : [MESH_DATABASE]),
    ...(given.registryUrl ? [] : [REGISTRY_DATABASE]),
  ]);
  const bootRegistry = () => provider.registry(withDatabase(server, REGISTRY_DATABASE));
  const registryUrl = await bringUp(input, 'registry', given.registryUrl ?? bootRegistry);
  if (!given.registryUrl) await setGlobalCompatibility(registryUrl);
  return { postgresUrl: given.postgresUrl ?? withDatabase(server, MESH_DATABASE), registryUrl };
}

/** Boots a part, unless its address is given. */
async function bringUp(
  { log, mode }: BootInput,
  name: string,
  source: string | (() => Promise<string>),
): Promise<string> {
  if (typeof source === 'string') {
    log.line(`${name}: from the environment`);
    return source;
  }
  const since = performance.now();
  const booted = await log.waiting(name, source());
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  log.line(`${name}: ready as ${mode === 'processes' ? 'process' : 'container'} (${seconds} s)`);
  return booted;
}

/** Asked before anything starts, so that a missing program leaves nothing running. */
async function requirePrograms(given: Given): Promise<void> {
  const downloads = [
    ...(given.kafkaBrokers ? [] : [KAFKA]),
    ...(given.registryUrl ? [] : [REGISTRY]),
    ...(given.redisUrl || findProgram('redis-server') ? [] : [REDIS]),
  ];
  if (!given.kafkaBrokers || !given.registryUrl) await requireJava();
  if (downloads.some((artifact) => !isInstalled(artifact))) requireMaven();
}

function processProvider({ home, isThrowaway, log, supervisor, portOf }: BootInput): InfraProvider {
  const deps = { supervisor, log };
  return {
    postgres: () => startPostgres(deps, { home, port: portOf('postgres'), isThrowaway }),
    kafka: () => {
      const controllerPort = portOf('kafka-controller');
      return startKafka(deps, { home, port: portOf('kafka'), controllerPort });
    },
    registry: (databaseUrl) => startRegistry(deps, { port: portOf('registry'), databaseUrl }),
    redis: () => startRedis(deps, { home, port: portOf('redis') }),
  };
}

/** The URLs of the environment when it names all four parts, so that nothing has to be started. */
export function readGivenUrls(environment = process.env): InfraUrls | undefined {
  const { postgresUrl, kafkaBrokers, registryUrl, redisUrl } = readGiven(environment);
  if (!postgresUrl || !kafkaBrokers || !registryUrl || !redisUrl) return undefined;
  return { postgresUrl, kafkaBrokers: kafkaBrokers.split(','), registryUrl, redisUrl };
}

type Given = ReturnType<typeof readGiven>;

function readGiven(environment: Readonly<Record<string, string | undefined>>) {
  return {
    postgresUrl: environment['POSTGRES_URL'] || undefined,
    kafkaBrokers: environment['KAFKA_BROKERS'] || undefined,
    registryUrl: environment['SCHEMA_REGISTRY_URL'] || undefined,
    redisUrl: environment['REDIS_URL'] || undefined,
  };
}
