import { endProcess } from '@pixmesh/service/run-service';
import { type Consumers, startConsumers } from '@pixmesh/kafka/consumers';
import type { MessagingSettings } from '@pixmesh/kafka/messaging';
import { systemClock } from '@pixmesh/kernel/clock';
import type { Database } from '@pixmesh/postgres/pool';
import type { Parts as ServiceParts } from '@pixmesh/service/start-service';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import type { Logger } from '@pixmesh/telemetry/logger';

import { applicationEventsIntake } from '#applications/application-events.consumer.ts';
import type { DispatcherConfig } from '#config.ts';
import { createAccountsBehind } from '#intake/accounts-behind.ts';
import { startFanOut } from '#intake/fan-out.job.ts';
import { createIntake, type IntakeDeps } from '#intake/intake.ts';
import { resourceEventsIntake } from '#intake/resource-events.consumer.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

type Parts = {
  config: DispatcherConfig;
  broker: MessagingSettings;
  db: Database;
  logger: Logger;
  clock: ScheduleClock;
  use: ServiceParts['use'];
} & Pick<IntakeDeps, 'isDispatched' | 'wakeSenders' | 'sender'>;

/** The role `intake` consumes; the role `api` alone consumes nothing, and handles what an operator replays. */
export function startIntake(parts: Parts): Consumers {
  const { config, broker, db, logger, clock, isDispatched, wakeSenders, sender, use } = parts;
  const signal = createWakeSignal();
  const behind = createAccountsBehind(signal);
  const storing = { db, scheduleClock: clock, wakeSenders, sender, behind };
  const isIntake = config.ROLES.includes('intake');
  const intake = createIntake({ ...storing, clock: systemClock, isDispatched });
  const applications = applicationEventsIntake({ db, logger, clock, wakeSenders });
  const consumers = startConsumers({
    service: 'webhook-dispatcher',
    ...broker,
    db,
    logger,
    groups: [resourceEventsIntake(intake), applications],
    replaysOnly: !isIntake,
    onFatal: endProcess,
  });
  const { toRawMessage } = consumers;
  // It stops behind the consumers. What a replay sets aside elsewhere is found by those that poll.
  if (isIntake) use('fan-out', startFanOut({ ...storing, logger, signal, toRawMessage }));
  return use('consumers', consumers);
}
