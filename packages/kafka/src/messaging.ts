import type { MeshIdentity } from '@pixmesh/certificates/mesh-identity';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { type BrokerAccess, brokerAccess } from './broker-access.ts';

/** Broker, registry and names of topics. */
export type MessagingSettings = BrokerAccess & { registryUrl: string; topicPrefix: string };

/** What the outbox and the consumers of a service have in common. */
export type Messaging = MessagingSettings & {
  service: string;
  db: Database;
  logger: Logger;
  /**
   * Called when a consumer has given up for good, or a schema is not stored: the process must end and be started again.
   */
  onFatal(error: Error): void;
};

/** As every service has them from its environment. */
export function messagingSettings(
  config: Parameters<typeof brokerAccess>[0] & {
    SCHEMA_REGISTRY_URL: string;
    KAFKA_TOPIC_PREFIX: string;
  },
  identity: MeshIdentity,
): MessagingSettings {
  return {
    ...brokerAccess(config, identity),
    registryUrl: config.SCHEMA_REGISTRY_URL,
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
  };
}
