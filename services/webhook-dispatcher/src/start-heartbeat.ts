import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import type { BrokerAccess } from '@pixmesh/kafka/broker-access';
import { createGroupBacklog, type GroupBacklog } from '@pixmesh/kafka/group-backlog';
import type { Database } from '@pixmesh/postgres/pool';
import type { Parts as ServiceParts } from '@pixmesh/service/start-service';
import type { Logger } from '@pixmesh/telemetry/logger';

import { type DispatcherConfig, leaseMsOf } from '#config.ts';
import { observeBacklog } from '#reports.ts';
import { startHeartbeat } from '#processes/heartbeat.job.ts';
import { listProcesses } from '#processes/processes.sql.ts';
import { createBacklogReader, type ReadBacklog } from '#processes/read-backlog.ts';
import type { Sender } from '#sending/sender.ts';

import type { ScheduleClock } from './schedule-clock.ts';

type Parts = {
  config: DispatcherConfig;
  broker: BrokerAccess;
  db: Database;
  logger: Logger;
  clock: ScheduleClock;
  processId: string;
  sender: Sender | null;
  use: ServiceParts['use'];
};

export type Backlogs = { readBacklog: ReadBacklog } & Pick<GroupBacklog, 'handledUntil'>;

/** Renews the row of this process and measures what waits, whatever its roles. */
export function startProcessHeartbeat(parts: Parts): Backlogs {
  const { config, broker, db, logger, clock, processId, sender, use } = parts;
  const events = createGroupBacklog({
    ...broker,
    clientId: 'webhook-dispatcher-backlog',
    logger,
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
    ...CONSUMER_GROUPS.dispatcherIntake,
  });
  const readBacklog = createBacklogReader({ db, clock, leaseMs: leaseMsOf(config), events });
  observeBacklog({ readBacklog, listProcesses: () => listProcesses(db) });
  use('heartbeat', startHeartbeat({ db, logger, id: processId, roles: config.ROLES, sender }));
  return { readBacklog, handledUntil: events.handledUntil };
}
