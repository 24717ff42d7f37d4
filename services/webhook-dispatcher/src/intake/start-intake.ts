import { endProcess } from '@pixmesh/http/run-service';
import { type Messaging, startMessaging } from '@pixmesh/kafka/messaging';
import { systemClock } from '@pixmesh/kernel/clock';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { applicationEventsIntake } from '#applications/application-events.consumer.ts';
import type { DispatcherConfig } from '#config.ts';

import { resourceEventsIntake } from './resource-events.consumer.ts';
import type { StoreEventDeps } from './store-event.ts';

type Parts = {
  config: DispatcherConfig;
  db: Database;
  logger: Logger;
} & Pick<StoreEventDeps, 'isDispatched' | 'wakeSenders'>;

/**
 * The conversation over Kafka: the role `intake` consumes; the role `api` alone only reads the dead letters
 * and consumes nothing.
 */
export async function startIntake(parts: Parts): Promise<Messaging> {
  const { config, db, logger, isDispatched, wakeSenders } = parts;
  const resources = resourceEventsIntake({ db, clock: systemClock, isDispatched, wakeSenders });
  const intake = [resources, applicationEventsIntake({ db, logger })];
  return await startMessaging({
    service: 'webhook-dispatcher',
    brokers: config.KAFKA_BROKERS,
    registryUrl: config.SCHEMA_REGISTRY_URL,
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
    db,
    logger,
    produces: [],
    consumes: config.ROLES.includes('intake') ? intake : [],
    onFatal: endProcess,
  });
}
