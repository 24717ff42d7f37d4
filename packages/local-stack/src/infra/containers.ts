import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { StartupFailure } from '../startup-failure.ts';
import type { BootInput, InfraProvider } from './boot-infra.ts';
import { importTestcontainers, openContainerRuns } from './container-runs.ts';
import { renderContainerKafka } from './kafka-properties.ts';
import { answersQuery } from './postgres-process.ts';
import { answersSubjects } from './registry-api.ts';
import { storageVariables } from './registry-process.ts';
import { exchange } from './tcp-probe.ts';

const IMAGES = {
  postgres: 'postgres:18',
  kafka: 'apache/kafka:4.3.1',
  registry: 'apicurio/apicurio-registry:3.0.9',
  redis: 'redis:8',
};
const PORTS = { postgres: 5432, kafka: 9092, registry: 8080, redis: 6379 };
const READY_LIMIT_MS = 120_000;
const READY_POLL_INTERVAL_MS = 100;
const PASSWORD_BYTES = 24;
/** How a container names the machine it runs on. */
const MACHINE = 'host.docker.internal';

/**
 * The same four parts as containers, on the same ports. They keep no data after a stop, and are not
 * restarted when they die: that belongs to the engine.
 */
export function bootContainers({ home, portOf, supervisor }: BootInput): InfraProvider {
  const opened = Promise.all([importTestcontainers(), openContainerRuns(home)]);
  opened.catch(() => undefined);
  supervisor.onStop(async () => {
    const [, runs] = await opened;
    await runs.close();
  });

  async function postgres(): Promise<string> {
    const [{ GenericContainer }, runs] = await opened;
    const password = randomBytes(PASSWORD_BYTES).toString('hex');
    const container = new GenericContainer(IMAGES.postgres)
      .withEnvironment({ POSTGRES_PASSWORD: password })
      .withCommand(['postgres', '-c', 'max_connections=300', '-c', 'timezone=UTC'])
      .withExposedPorts({ container: PORTS.postgres, host: portOf('postgres') });
    await runs.start(container);
    const url = `postgres://postgres:${password}@127.0.0.1:${portOf('postgres')}/postgres`;
    await untilReady('postgres', () => answersQuery(url));
    return url;
  }

  async function kafka(): Promise<string> {
    const [{ GenericContainer, Wait }, runs] = await opened;
    const port = portOf('kafka');
    const container = new GenericContainer(IMAGES.kafka)
      .withEnvironment(renderContainerKafka(port))
      .withExposedPorts({ container: PORTS.kafka, host: port })
      .withWaitStrategy(Wait.forLogMessage('Kafka Server started'));
    await runs.start(container);
    return `127.0.0.1:${port}`;
  }

  async function registry(databaseUrl: string): Promise<string> {
    const [{ GenericContainer }, runs] = await opened;
    const container = new GenericContainer(IMAGES.registry)
      .withEnvironment({
        QUARKUS_HTTP_HOST: '0.0.0.0',
        QUARKUS_HTTP_PORT: String(PORTS.registry),
        ...storageVariables(seenFromContainer(databaseUrl)),
      })
      .withExtraHosts([{ host: MACHINE, ipAddress: 'host-gateway' }])
      .withExposedPorts({ container: PORTS.registry, host: portOf('registry') });
    await runs.start(container);
    const origin = `http://127.0.0.1:${portOf('registry')}`;
    await untilReady('registry', () => answersSubjects(origin));
    return origin;
  }

  async function redis(): Promise<string> {
    const [{ GenericContainer }, runs] = await opened;
    const container = new GenericContainer(IMAGES.redis)
      .withCommand(['redis-server', '--save', '', '--appendonly', 'no'])
      .withExposedPorts({ container: PORTS.redis, host: portOf('redis') });
    await runs.start(container);
    await untilReady('redis', () => answersPing(portOf('redis')));
    return `redis://127.0.0.1:${portOf('redis')}`;
  }

  return { postgres, kafka, registry, redis };
}

/** The machine's loopback is the container's own inside of it. */
export function seenFromContainer(url: string): string {
  const changed = new URL(url);
  if (['127.0.0.1', 'localhost', '[::1]'].includes(changed.hostname)) changed.hostname = MACHINE;
  return changed.href;
}

async function answersPing(port: number): Promise<boolean> {
  const answer = await exchange(port, 'PING\r\n', (text) => text.includes('+PONG'));
  return answer?.includes('+PONG') ?? false;
}

async function untilReady(name: string, isReady: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + READY_LIMIT_MS;
  while (!(await isReady())) {
    if (performance.now() > deadline) {
      throw new StartupFailure(`${name} was not ready within ${READY_LIMIT_MS / 1000} s`);
    }
    await delay(READY_POLL_INTERVAL_MS);
  }
}
