import { endProcess } from '@pixmesh/service/run-service';
import { type Consumers, startConsumers } from '@pixmesh/kafka/consumers';
import type { MessagingSettings } from '@pixmesh/kafka/messaging';
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
  broker: MessagingSettings;
  db: Database;
  logger: Logger;
  clock: ScheduleClock;
} & Pick<IntakeDeps, 'isDispatched' | 'wakeSenders' | 'sender'>;

/** The role `intake` consumes; the role `api` alone consumes nothing, and handles what an operator replays. */
export function startIntake(parts: Parts): Consumers {
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
  return startConsumers({
    service: 'webhook-dispatcher',
    ...broker,
    db,
    logger,
    groups: [resourceEventsIntake(intake), applications],
    replaysOnly: !config.ROLES.includes('intake'),
    onFatal: endProcess,
  });
}
