import { readIdentity } from '@pixmesh/certificates/mesh-identity';
import { type ContainerSpec, openContainerRuns } from './container-runs.ts';
import type { BootInput, InfraProvider } from './infra-provider.ts';
import { identityFolder } from './identities.ts';
import { KAFKA_READY_LINE, renderContainerKafka } from './kafka-properties.ts';
import { renderKeystore } from './kafka-process.ts';
import { MESH_DATABASE, REGISTRY_DATABASE } from './postgres-databases.ts';
import { answersQuery } from './postgres-process.ts';
import { IDENTITY_FOLDER, identityFiles } from './container-identity.ts';
import { QUICK_COMPILER } from './java-options.ts';
import { freshPassword } from './kept-password.ts';
import { renderAccessRules } from './postgres-access.ts';
import { describeRedis } from './redis-container.ts';
import type { RedisAccess } from './redis-users.ts';
import { answersSubjects } from './registry-api.ts';
import { renderStorageLogin, storageVariables } from './registry-process.ts';

const IMAGES = {
  postgres: 'postgres:18',
  kafka: 'apache/kafka:4.3.1',
  registry: 'apicurio/apicurio-registry:3.0.9',
};
const PORTS = { postgres: 5432, kafka: 9092, registry: 8080 };
const PASSWORD_FILE = '/pixmesh-postgres-password';
/** Run by the image when it makes its data. */
const FIRST_START_SQL = '/docker-entrypoint-initdb.d/create-registry-database.sql';
/** User and password of the registry. */
const LOGIN_FILE = '/pixmesh-registry.properties';
const REGISTRY_ENVIRONMENT = {
  SMALLRYE_CONFIG_LOCATIONS: LOGIN_FILE,
  JAVA_TOOL_OPTIONS: QUICK_COMPILER,
};
const RULES_FILE = '/pixmesh-pg_hba.conf';
/** Postgres takes no key that others can read, as files come into a container. */
const START_POSTGRES = `install -o postgres -m 600 ${IDENTITY_FOLDER}/tls.key /tls.key && exec docker-entrypoint.sh postgres \
-c max_connections=600 -c timezone=UTC -c hba_file=${RULES_FILE} \
-c ssl=on -c ssl_cert_file=${IDENTITY_FOLDER}/tls.crt -c ssl_key_file=/tls.key`;
/** In the container. */
const KAFKA_IDENTITY = { keystore: '/pixmesh-keystore.pem', truststore: '/pixmesh-ca.pem' };
const KAFKA_HEAP = `-Xmx512m -Xms256m ${QUICK_COMPILER}`;
/** How a container names the machine it runs on. */
const MACHINE = 'host.docker.internal';

/**
 * The same four parts as containers, on the same loopback ports. They keep no data after a stop; the engine starts them
 * again when they fail.
 */
export function bootContainers({ home, log, portOf, supervisor }: BootInput): InfraProvider {
  const opened = openContainerRuns({ home, log }, (name, pid) => supervisor.show(name, pid));
  opened.catch(() => undefined);
  supervisor.onStop(async () => (await opened).close());
  const start = async (spec: ContainerSpec) => (await opened).start(spec);
  let ownPostgres: string | undefined;

  async function postgres(): Promise<string> {
    const password = freshPassword();
    const url = `postgres://postgres:${password}@127.0.0.1:${portOf('postgres')}/postgres`;
    const hostName = await start({
      name: 'postgres',
      image: IMAGES.postgres,
      ports: { container: PORTS.postgres, host: portOf('postgres') },
      environment: { POSTGRES_PASSWORD_FILE: PASSWORD_FILE, POSTGRES_DB: MESH_DATABASE },
      files: [
        { target: PASSWORD_FILE, content: password },
        { target: FIRST_START_SQL, content: `create database ${REGISTRY_DATABASE};\n` },
        // While the image prepares its data, it comes by a socket.
        { target: RULES_FILE, content: `local all all trust\n${renderAccessRules('all')}` },
        ...identityFiles(home, 'postgres'),
      ],
      command: ['bash', '-c', START_POSTGRES],
      // While the image prepares its data, its server answers on a socket only.
      isReady: () => answersQuery(url),
    });
    ownPostgres = `${hostName}:${PORTS.postgres}`;
    return url;
  }

  async function kafka(): Promise<string> {
    const port = portOf('kafka');
    const identity = readIdentity(identityFolder(home, 'kafka'));
    await start({
      name: 'kafka',
      image: IMAGES.kafka,
      ports: { container: PORTS.kafka, host: port },
      environment: {
        ...renderContainerKafka(port, KAFKA_IDENTITY),
        KAFKA_HEAP_OPTS: KAFKA_HEAP,
      },
      files: [
        { target: KAFKA_IDENTITY.keystore, content: renderKeystore(identity) },
        { target: KAFKA_IDENTITY.truststore, content: identity.ca },
      ],
      // The engine accepts connections to a published port before anything listens in the container.
      isReady: async (output) => output().includes(KAFKA_READY_LINE),
    });
    return `127.0.0.1:${port}`;
  }

  async function registry(databaseUrl: string): Promise<string> {
    const origin = `http://127.0.0.1:${portOf('registry')}`;
    const placed = placeRegistry({ databaseUrl, ownPostgres, port: portOf('registry') });
    const spec = {
      name: 'registry',
      image: IMAGES.registry,
      ...placed,
      environment: { ...placed.environment, ...REGISTRY_ENVIRONMENT },
      files: [{ target: LOGIN_FILE, content: renderStorageLogin(databaseUrl) }],
      isReady: () => answersSubjects(origin),
    };
    await start(spec);
    supervisor.restartsBy('registry', async (variables) => {
      const environment = { ...spec.environment, ...variables };
      await (await opened).replace({ ...spec, environment });
    });
    return origin;
  }

  async function redis(): Promise<RedisAccess> {
    const { spec, access } = describeRedis(home, portOf('redis'));
    await start(spec);
    return access;
  }

  return { postgres, kafka, registry, redis };
}

/**
 * Where the registry runs, so that it reaches its database: beside our own Postgres on the network of
 * the containers; otherwise on the machine, whose loopback is not the container's.
 */
export function placeRegistry(input: {
  databaseUrl: string;
  /** Our own Postgres as containers see it. */
  ownPostgres: string | undefined;
  port: number;
  platform?: NodeJS.Platform;
}): Pick<ContainerSpec, 'ports' | 'environment' | 'extraHosts'> {
  const { databaseUrl, ownPostgres, port, platform = process.platform } = input;
  const url = new URL(databaseUrl);
  const onLoopback = ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  // Engines in a virtual machine forward to the machine's loopback; the one of Linux does not.
  if (!ownPostgres && onLoopback && platform === 'linux') {
    const listen = { QUARKUS_HTTP_HOST: '127.0.0.1', QUARKUS_HTTP_PORT: String(port) };
    return { ports: undefined, environment: { ...listen, ...storageVariables(databaseUrl) } };
  }
  if (ownPostgres) url.host = ownPostgres;
  else if (onLoopback) url.hostname = MACHINE;
  const listen = { QUARKUS_HTTP_HOST: '0.0.0.0', QUARKUS_HTTP_PORT: String(PORTS.registry) };
  return {
    ports: { container: PORTS.registry, host: port },
    environment: { ...listen, ...storageVariables(url.href) },
    extraHosts: [{ host: MACHINE, ipAddress: 'host-gateway' }],
  };
}
