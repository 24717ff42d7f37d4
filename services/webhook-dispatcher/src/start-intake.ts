import { endProcess } from '@pixmesh/service/run-service';
import { type Messaging, type messagingSettings, startMessaging } from '@pixmesh/kafka/messaging';
import { systemClock } from '@pixmesh/kernel/clock';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { applicationEventsIntake } from '#applications/application-events.consumer.ts';
import type { DispatcherConfig } from '#config.ts';
import { createIntake, type IntakeDeps } from '#intake/intake.ts';
import { resourceEventsIntake } from '#intake/resource-events.consumer.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

type Parts = {
  config: DispatcherConfig;
  broker: ReturnType<typeof messagingSettings>;
  db: Database;
  logger: Logger;
  clock: ScheduleClock;
} & Pick<IntakeDeps, 'isDispatched' | 'wakeSenders' | 'sender'>;

/**
 * The conversation over Kafka: the role `intake` consumes; the role `api` alone consumes nothing, and handles what an
 * operator replays.
 */
export function startIntake(parts: Parts): Messaging {
  const { config, broker, db, logger, clock, isDispatched, wakeSenders, sender } = parts;
  const intake = createIntake({
    db,
    clock: systemClock,
    scheduleClock: clock,
    isDispatched,
    wakeSenders,
    sender,
  });
  const applications = applicationEventsIntake({ db, logger, clock, wakeSenders });
  return startMessaging({
    service: 'webhook-dispatcher',
    ...broker,
    db,
    logger,
    outbox: null,
    consumes: [resourceEventsIntake(intake), applications],
    replaysOnly: !config.ROLES.includes('intake'),
    onFatal: endProcess,
  });
}
