import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { createTokenKeyPair } from '@pixmesh/kernel/fresh-secrets';

import { prepareInstallation } from '../../../deploy/prepare-installation.ts';
import { schemasToMigrate } from '../../../deploy/schemas-of-services.ts';

/** The part of a running infrastructure that the ledger needs. */
export type LedgerInfra = { postgresUrl: string; kafkaBrokers: string[]; registryUrl: string };

const PASSWORD = 'bench';
const READY_TRIES_MAX = 200;
const READY_POLL_MS = 100;

/** Migrates every schema and makes topics and message schemas, as the deploy job does. */
export async function prepareLedger(infra: LedgerInfra): Promise<void> {
  const passwords = schemasToMigrate().map(({ schema }) => [
    `DATABASE_PASSWORD_${schema.toUpperCase()}`,
    PASSWORD,
  ]);
  await prepareInstallation({
    ADMIN_DATABASE_URL: infra.postgresUrl,
    ...kafkaVariables(infra),
    ...Object.fromEntries(passwords),
  });
}

/** The database through the role of the ledger, with no more rights than the service has. */
export function ledgerUrl(infra: LedgerInfra): string {
  const url = new URL(infra.postgresUrl);
  url.username = 'pixmesh_ledger';
  url.password = PASSWORD;
  return url.href;
}

/** The ledger as its own process, by the command line of production; ready when this resolves. */
export async function startLedgerProcess(infra: LedgerInfra): Promise<AsyncDisposable> {
  const [port = 0, internalPort = 0] = await freePorts(2);
  const child = spawn(
    process.execPath,
    ['--import', '@pixmesh/telemetry/preload', 'services/ledger/src/main.ts'],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        NODE_ENV: 'production',
        SERVICE_NAME: 'ledger',
        LOG_LEVEL: 'error',
        HOST: '127.0.0.1',
        PORT: String(port),
        INTERNAL_PORT: String(internalPort),
        DATABASE_URL: ledgerUrl(infra),
        ...kafkaVariables(infra),
        SERVICE_TOKEN_PUBLIC_KEYS: JSON.stringify({
          keys: [createTokenKeyPair('payouts').publicJwk],
        }),
      },
    },
  );
  await waitUntilReady(child, `http://127.0.0.1:${internalPort}/readyz`);
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

function kafkaVariables(infra: LedgerInfra) {
  return {
    KAFKA_BROKERS: infra.kafkaBrokers.join(','),
    SCHEMA_REGISTRY_URL: infra.registryUrl,
  };
}

async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  for (let tries = 1; tries <= READY_TRIES_MAX; tries += 1) {
    if (child.exitCode !== null) throw new Error('the ledger did not start');
    const response = await fetch(url).catch(() => null);
    if (response?.ok) return;
    await delay(READY_POLL_MS);
  }
  throw new Error('the ledger did not become ready');
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
