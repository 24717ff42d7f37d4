import { join } from 'node:path';
import { KAFKA, REDIS, REGISTRY } from './artifacts.ts';
import { bootContainers } from './containers.ts';
import { requireJava, requireMaven } from './find-program.ts';
import type { BootInput, InfraProvider } from './infra-provider.ts';
import { isInstalled } from './install-artifact.ts';
import { readOrCreatePassword } from './kept-password.ts';
import { startKafka } from './kafka-process.ts';
import {
  MESH_DATABASE,
  REGISTRY_DATABASE,
  createDatabases,
  prepareRegistryDatabase,
  withDatabase,
  withVerifiedTls,
} from './postgres-databases.ts';
import { startPostgres } from './postgres-process.ts';
import { startRedis } from './redis-process.ts';
import { findRedisServer } from './redis-server.ts';
import { givenRedis, type RedisAccess } from './redis-users.ts';
import { setGlobalCompatibility } from './registry-api.ts';
import { startRegistry } from './registry-process.ts';

export interface InfraUrls {
  /** Superuser, database `pixmesh`. */
  postgresUrl: string;
  /** The same database for service roles, who put in their user and password. */
  postgresServiceUrl: string;
  kafkaBrokers: string[];
  /** Origin, without the path of an API. */
  registryUrl: string;
  redis: RedisAccess;
}

/** Brings all four parts up at once; only the registry waits, for its database. */
export async function bootInfra(input: BootInput): Promise<InfraUrls> {
  const given = readGiven(process.env);
  if (input.mode === 'processes') await requirePrograms(given);
  const provider = input.mode === 'processes' ? processProvider(input) : bootContainers(input);
  const [kafka, server, redis] = await Promise.all([
    bringUp(input, 'kafka', { given: given.kafkaBrokers, boot: provider.kafka }),
    bringUpStores(input, given, provider),
    bringUp(input, 'redis', { given: given.redis, boot: provider.redis }),
  ]);
  return { ...server, kafkaBrokers: kafka.split(','), redis };
}

async function bringUpStores(
  input: BootInput,
  given: Given,
  provider: InfraProvider,
): Promise<Omit<InfraUrls, 'kafkaBrokers' | 'redis'>> {
  const { postgresUrl: givenServer } = given;
  const server = await bringUp(input, 'postgres', { given: givenServer, boot: provider.postgres });
  await createDatabases(server, [
    ...(givenServer ? [] : [MESH_DATABASE]),
    ...(given.registryUrl ? [] : [REGISTRY_DATABASE]),
  ]);
  const registryUrl = await bringUp(input, 'registry', {
    given: given.registryUrl,
    boot: async () => {
      const password = readOrCreatePassword(join(input.home, 'data', 'registry.password'));
      return await provider.registry(await prepareRegistryDatabase(server, password));
    },
  });
  if (!given.registryUrl) await setGlobalCompatibility(registryUrl);
  const postgresUrl = givenServer ?? withDatabase(server, MESH_DATABASE);
  const postgresServiceUrl = givenServer ?? withVerifiedTls(postgresUrl, input.home);
  return { postgresUrl, postgresServiceUrl, registryUrl };
}

/** Boots a part, unless its address is given. */
async function bringUp<Address>(
  { log, mode }: BootInput,
  name: string,
  { given, boot }: { given: Address | undefined; boot(): Promise<Address> },
): Promise<Address> {
  if (given !== undefined) {
    log.line(`${name}: from the environment`);
    return given;
  }
  const since = performance.now();
  const booted = await log.waiting(name, boot());
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  log.line(`${name}: ready as ${mode === 'processes' ? 'process' : 'container'} (${seconds} s)`);
  return booted;
}

/** Asked before anything starts, so that a missing program leaves nothing running. */
async function requirePrograms(given: Given): Promise<void> {
  const downloads = [
    ...(given.kafkaBrokers ? [] : [KAFKA]),
    ...(given.registryUrl ? [] : [REGISTRY]),
    ...(given.redis || findRedisServer() ? [] : [REDIS]),
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
    registry: (databaseUrl) => startRegistry(deps, { home, port: portOf('registry'), databaseUrl }),
    redis: () => startRedis(deps, { home, port: portOf('redis') }),
  };
}

/** The URLs of the environment when it names all four parts, so that nothing has to be started. */
export function readGivenUrls(environment = process.env): InfraUrls | undefined {
  const { postgresUrl, kafkaBrokers, registryUrl, redis } = readGiven(environment);
  if (!postgresUrl || !kafkaBrokers || !registryUrl || !redis) return undefined;
  return {
    postgresUrl,
    postgresServiceUrl: postgresUrl,
    kafkaBrokers: kafkaBrokers.split(','),
    registryUrl,
    redis,
  };
}

type Given = ReturnType<typeof readGiven>;

function readGiven(environment: Readonly<Record<string, string | undefined>>) {
  const { REDIS_URL: redisUrl, REDIS_TLS_CA_FILE: redisCa } = environment;
  return {
    postgresUrl: environment['POSTGRES_URL'] || undefined,
    kafkaBrokers: environment['KAFKA_BROKERS'] || undefined,
    registryUrl: environment['SCHEMA_REGISTRY_URL'] || undefined,
    redis: redisUrl ? givenRedis(redisUrl, redisCa || undefined) : undefined,
  };
}
