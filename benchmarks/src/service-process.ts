import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

import type { IdentityName } from '@pixmesh/contracts/internal/identities';
import { accessOfFolder, type BrokerAccess } from '@pixmesh/kafka/broker-access';
import { identityFolder } from '@pixmesh/local-stack/infra/identities';
import { withUser } from '@pixmesh/local-stack/infra/postgres-databases';
import { OWNER_ROLE, prepareOwner } from '@pixmesh/postgres/owner-role';
import { freePorts } from '@pixmesh/testkit/free-ports';

import { prepareInstallation } from '../../deploy/prepare-installation.ts';
import { schemasToMigrate } from '../../deploy/schemas-of-services.ts';

/** The part of a running infrastructure that a service needs. */
export type ServiceInfra = {
  /** Folder with the identities. */
  home: string;
  postgresUrl: string;
  /** For service roles. */
  postgresServiceUrl: string;
  kafkaBrokers: string[];
  registryUrl: string;
};

export type ServiceProcess = AsyncDisposable & { readonly pid: number };

const PASSWORD = 'bench';
const READY_TRIES_MAX = 600;
const READY_POLL_MS = 100;

/** Migrates every schema and makes topics and message schemas, as the deploy job does. */
export async function prepareServices(infra: ServiceInfra, topicPrefix = ''): Promise<void> {
  await prepareOwner({
    adminUrl: infra.postgresUrl,
    password: PASSWORD,
    schemas: schemasToMigrate().map(({ schema }) => schema),
  });
  const passwords = schemasToMigrate().map(({ schema }) => [
    `DATABASE_PASSWORD_${schema.toUpperCase()}`,
    PASSWORD,
  ]);
  await prepareInstallation({
    NODE_ENV: 'development',
    ADMIN_DATABASE_URL: withUser(infra.postgresServiceUrl, {
      role: OWNER_ROLE,
      password: PASSWORD,
    }),
    MESH_TLS_DIR: identityFolder(infra.home, 'deploy'),
    KAFKA_TOPIC_PREFIX: topicPrefix,
    ...kafkaVariables(infra),
    ...Object.fromEntries(passwords),
  });
}

/** The broker as the benchmarks themselves use it. */
export function toolsBroker(infra: ServiceInfra): BrokerAccess {
  return accessOfFolder(infra.kafkaBrokers, identityFolder(infra.home, 'tools'));
}

/** The database through the role of a service, with no more rights than the service has. */
export function serviceDatabaseUrl(infra: ServiceInfra, schema: string): string {
  return withUser(infra.postgresServiceUrl, { role: `pixmesh_${schema}`, password: PASSWORD });
}

/** A service as its own process, by the command line of production; ready when this resolves. */
export async function startServiceProcess(
  infra: ServiceInfra,
  service: { name: IdentityName; schema: string; env: NodeJS.ProcessEnv },
): Promise<ServiceProcess> {
  const { name } = service;
  const [port = 0, internalPort = 0] = await freePorts(2);
  const child = spawn(
    process.execPath,
    ['--import', '@pixmesh/telemetry/preload', `services/${name}/src/main.ts`],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        // Everything is on this machine, which is no production.
        NODE_ENV: 'development',
        SERVICE_NAME: name,
        LOG_LEVEL: 'error',
        HOST: '127.0.0.1',
        PORT: String(port),
        INTERNAL_PORT: String(internalPort),
        DATABASE_URL: serviceDatabaseUrl(infra, service.schema),
        MESH_TLS_DIR: identityFolder(infra.home, name),
        ...kafkaVariables(infra),
        ...service.env,
      },
    },
  );
  // A benchmark that fails half-way ends with its processes.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  await waitUntilReady(child, { name, url: `http://127.0.0.1:${internalPort}/readyz` });
  return {
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      process.off('exit', kill);
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

function kafkaVariables(infra: ServiceInfra) {
  return {
    KAFKA_BROKERS: infra.kafkaBrokers.join(','),
    SCHEMA_REGISTRY_URL: infra.registryUrl,
  };
}

async function waitUntilReady(
  child: ChildProcess,
  { name, url }: { name: string; url: string },
): Promise<void> {
  for (let tries = 1; tries <= READY_TRIES_MAX; tries += 1) {
    if (child.exitCode !== null) throw new Error(`${name} did not start`);
    const response = await fetch(url).catch(() => null);
    if (response?.ok) return;
    await delay(READY_POLL_MS);
  }
  throw new Error(`${name} did not become ready`);
}
