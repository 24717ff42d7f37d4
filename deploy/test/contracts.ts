import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { brokerAcls } from '@pixmesh/contracts/internal/broker-rights';
import { ServiceName } from '@pixmesh/contracts/internal/identities';
import { PARTITIONS_PER_TOPIC, TOPICS } from '@pixmesh/contracts/topics';
import { RESERVED_CONNECTIONS } from '@pixmesh/local-stack/mesh/connection-budget';
import { MESH_SERVICES } from '@pixmesh/local-stack/mesh/mesh-services';
import { loadSettings } from '@pixmesh/service/load-settings';

import { DeployConfig } from '../prepare-installation.ts';
import { CallbackConfig } from '../register-callback.ts';
import { schemasToMigrate } from '../schemas-of-services.ts';

/** What the chart has to agree with, and the guides beside it, out of the sources, as JSON for the Go test. */
const ROOT = path.resolve(import.meta.dirname, '../..');
const METRIC = /(?:counter|observedGauge|durationHistogram)\(\s*'([a-z_]+)'/g;

const passwords = schemasToMigrate().map(
  ({ schema }) => `DATABASE_PASSWORD_${schema.toUpperCase()}`,
);
const settings: Record<string, string[]> = {
  deploy: [...Object.keys(DeployConfig.shape), ...passwords],
  callback: Object.keys(CallbackConfig.shape),
};
for (const service of ServiceName.options) {
  settings[service] = Object.keys((await loadSettings(service)).shape);
}

const topics = Object.values(TOPICS);
const rights = brokerAcls({ prefix: '', tools: false }).map(
  ({ principal, operation, resource, name }) =>
    [principal.replace('User:', ''), operation, resource, name].join(' '),
);
/** Database connections that one process of a service may hold, by its pool size where that is a setting. */
const connectionsOf = (poolSize?: number) =>
  Object.fromEntries(MESH_SERVICES.map(({ name, connections }) => [name, connections(poolSize)]));
/** Of no default. */
const POOL_SIZE = 41;
const contracts = {
  settings,
  topics,
  rights,
  partitions: PARTITIONS_PER_TOPIC,
  connections: connectionsOf(),
  poolSize: POOL_SIZE,
  connectionsByPoolSize: connectionsOf(POOL_SIZE),
  reservedConnections: RESERVED_CONNECTIONS,
  metrics: metricNames(),
};
process.stdout.write(JSON.stringify(contracts));

function metricNames(): string[] {
  const sources = ['services/webhook-dispatcher/src', 'packages'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .filter((file) => !file.includes('node_modules'))
      .map((file) => readFileSync(path.join(ROOT, folder, file), 'utf8')),
  );
  return sources.flatMap((text) => [...text.matchAll(METRIC)].map(([, name = '']) => name));
}
