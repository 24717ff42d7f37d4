import { existsSync, readFileSync } from 'node:fs';
import { type IdentityPaths, identityPaths } from '../infra/identities.ts';
import type { Observers } from '../observe/start-observers.ts';
import { StartupFailure } from '../startup-failure.ts';
import { stackFilePath } from '../supervisor/run-files.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';
import { givenValue } from './given-settings.ts';
import type { DemoAccount } from './mesh-secrets.ts';
import { MESH_SERVICES } from './mesh-services.ts';
import type { MeshSettings } from './mesh-settings.ts';
import { failpointsOriginOf, internalOriginOf } from './service-environment.ts';

/** `stack.json`: the stable surface for people, scripts and tests. URLs are origins. */
export interface StackFile {
  gateway_url: string;
  admin_url: string;
  admin_token: string;
  callback_url: string;
  simulator_url: string;
  receiver_url: string;
  dispatcher_metrics_url: string;
  /** Listener of each process for `/livez`, `/readyz` and `/metrics`. */
  internal_urls: Record<string, string>;
  /** Where the failpoints of each process are armed, with `mesh_tls`. */
  failpoint_urls: Record<string, string>;
  /** Files of the identity of tools. */
  mesh_tls: IdentityPaths;
  postgres_url: string;
  kafka_brokers: string[];
  /** Files of the identity for tools; absent where the broker is spoken to in another way. */
  kafka_tls?: IdentityPaths | undefined;
  registry_url: string;
  redis_url: string;
  /** The files of the identity for tools, where Redis takes TLS only. */
  redis_tls?: IdentityPaths | undefined;
  /** Where `--observe` has started them. */
  prometheus_url?: string | undefined;
  alertmanager_url?: string | undefined;
  account_id: string;
  application_id: string;
  api_key: string;
  pids: Record<string, number>;
}

export function describeStack(input: {
  settings: MeshSettings;
  demo: DemoAccount;
  /** Of the processes beyond the first of a service, by name. */
  furtherUrls: { internal: Record<string, string>; failpoints: Record<string, string> };
  pids: Record<string, number>;
  observers?: Pick<Observers, 'prometheusUrl' | 'alertmanagerUrl'> | null;
}): StackFile {
  const { home, infra, origin, secrets } = input.settings;
  const isMutual = (givenValue('KAFKA_SECURITY') ?? 'mtls') === 'mtls';
  return {
    gateway_url: origin('gateway'),
    admin_url: origin('admin'),
    admin_token: secrets.adminToken,
    callback_url: origin('callback'),
    simulator_url: origin('simulator'),
    receiver_url: origin('receiver'),
    dispatcher_metrics_url: origin('dispatcher-internal'),
    internal_urls: {
      ...Object.fromEntries(
        MESH_SERVICES.map((service) => [service.name, internalOriginOf(service, input.settings)]),
      ),
      ...input.furtherUrls.internal,
    },
    failpoint_urls: { ...failpointUrlsOf(input.settings), ...input.furtherUrls.failpoints },
    mesh_tls: identityPaths(home, 'tools'),
    postgres_url: infra.postgresUrl,
    kafka_brokers: infra.kafkaBrokers,
    kafka_tls: isMutual ? identityPaths(home, 'tools') : undefined,
    registry_url: infra.registryUrl,
    redis_url: infra.redis.urls.tools,
    redis_tls: infra.redis.caFile === undefined ? undefined : identityPaths(home, 'tools'),
    prometheus_url: input.observers?.prometheusUrl,
    alertmanager_url: input.observers?.alertmanagerUrl ?? undefined,
    account_id: input.demo.accountId,
    application_id: input.demo.applicationId,
    api_key: input.demo.apiKey,
    pids: { supervisor: process.pid, ...input.pids },
  };
}

function failpointUrlsOf(settings: MeshSettings): Record<string, string> {
  const urls = MESH_SERVICES.map((service) => [
    service.name,
    failpointsOriginOf(service, settings),
  ]);
  return Object.fromEntries(urls.filter(([, url]) => url !== null)) as Record<string, string>;
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
