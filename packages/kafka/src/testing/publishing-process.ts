/**
 * A process that publishes the outbox of a database as a service does: `node --import @pixmesh/telemetry/preload
 * publishing-process.ts <broker> <identity> <registry> <prefix> <database> <internal port>`. It logs to stdout and
 * serves its metrics.
 */
import { startHealth } from '@pixmesh/service/health';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { createPool } from '@pixmesh/postgres/pool';
import { createLogger } from '@pixmesh/telemetry/logger';

import { accessOfFolder } from '../broker-access.ts';
import { startOutbox } from '../outbox.ts';
import { PUBLISHED_MESSAGES } from './published-messages.ts';

const [broker = '', folder = '', registryUrl = '', topicPrefix = '', url = '', port = ''] =
  process.argv.slice(2);

const outbox = startOutbox({
  service: 'publishing',
  ...accessOfFolder([broker], folder),
  registryUrl,
  topicPrefix,
  db: createPool({ url, applicationName: 'publishing' }),
  logger: createLogger('publishing'),
  produces: Object.values(PUBLISHED_MESSAGES),
  signal: createWakeSignal(),
  onFatal: (error) => {
    throw error;
  },
});

await startHealth({
  host: '127.0.0.1',
  port: Number(port),
  isAlive: outbox.isAlive,
  checkReady: async () => undefined,
});
