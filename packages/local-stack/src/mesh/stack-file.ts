import { existsSync, readFileSync } from 'node:fs';
import { StartupFailure } from '../startup-failure.ts';
import { stackFilePath } from '../supervisor/run-files.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';
import type { DemoAccount } from './mesh-secrets.ts';
import { MESH_SERVICES } from './mesh-services.ts';
import type { MeshSettings } from './mesh-settings.ts';
import type { Replica } from './replicas.ts';
import { internalOriginOf } from './service-environment.ts';

/** `stack.json`: the stable surface for people, scripts and tests. URLs are origins. */
export interface StackFile {
  gateway_url: string;
  admin_url: string;
  admin_token: string;
  callback_url: string;
  simulator_url: string;
  receiver_url: string;
  dispatcher_metrics_url: string;
  /** Listener of each service for `/livez`, `/readyz`, `/metrics` and, in tests, failpoints. */
  internal_urls: Record<string, string>;
  postgres_url: string;
  kafka_brokers: string[];
  registry_url: string;
  redis_url: string;
  account_id: string;
  application_id: string;
  api_key: string;
  pids: Record<string, number>;
  /** Further processes of every service (`PIXMESH_REPLICAS`), with entries of their own in `internal_urls` and `pids`. */
  replicas?: { gateway_url: string; admin_url: string }[];
}

export function describeStack(input: {
  settings: MeshSettings;
  demo: DemoAccount;
  replicas: readonly Replica[];
  pids: Record<string, number>;
}): StackFile {
  const { infra, origin, secrets } = input.settings;
  const replicas = input.replicas.map(({ gateway_url, admin_url }) => ({ gateway_url, admin_url }));
  return {
    gateway_url: origin('gateway'),
    admin_url: origin('admin'),
    admin_token: secrets.adminToken,
    callback_url: origin('callback'),
    simulator_url: origin('simulator'),
    receiver_url: origin('receiver'),
    dispatcher_metrics_url: origin('dispatcher-internal'),
    internal_urls: Object.assign(
      Object.fromEntries(
        MESH_SERVICES.map((service) => [service.name, internalOriginOf(service, input.settings)]),
      ),
      ...input.replicas.map(({ internal_urls }) => internal_urls),
    ),
    postgres_url: infra.postgresUrl,
    kafka_brokers: infra.kafkaBrokers,
    registry_url: infra.registryUrl,
    redis_url: infra.redisUrl,
    account_id: input.demo.accountId,
    application_id: input.demo.applicationId,
    api_key: input.demo.apiKey,
    pids: { supervisor: process.pid, ...input.pids },
    ...(replicas.length > 0 ? { replicas } : {}),
  };
}

export function writeStackFile(home: string, stack: StackFile): void {
  writeFileAtomically(stackFilePath(home), `${JSON.stringify(stack, null, 2)}\n`);
}

export function readStackFile(home: string): StackFile {
  const path = stackFilePath(home);
  if (!existsSync(path)) {
    throw new StartupFailure(`no stack is running in ${home} (no stack.json); start it: npm start`);
  }
  return JSON.parse(readFileSync(path, 'utf8')) as StackFile;
}
