import { endProcess } from '@pixmesh/http/run-service';
import { type Messaging, startMessaging } from '@pixmesh/kafka/messaging';
import { systemClock } from '@pixmesh/kernel/clock';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { DispatcherConfig } from '#config.ts';

import { chargeEventsIntake } from './charge-events.consumer.ts';

type Parts = {
  config: DispatcherConfig;
  db: Database;
  logger: Logger;
  wakeSenders(): void;
};

/**
 * The conversation over Kafka: the role `intake` consumes; the role `api` alone only reads the dead letters
 * and consumes nothing.
 */
export async function startIntake(parts: Parts): Promise<Messaging> {
  const { config, db, logger, wakeSenders } = parts;
  const intake = chargeEventsIntake({ db, clock: systemClock, wakeSenders });
  return await startMessaging({
    service: 'webhook-dispatcher',
    brokers: config.KAFKA_BROKERS,
    registryUrl: config.SCHEMA_REGISTRY_URL,
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
    db,
    logger,
    produces: [],
    consumes: config.ROLES.includes('intake') ? [intake] : [],
    onFatal: endProcess,
  });
}
