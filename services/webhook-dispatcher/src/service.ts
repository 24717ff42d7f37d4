import { observeCertificate } from '@pixmesh/service/observe-certificate';
import { type MeshIdentity, openMeshIdentity } from '@pixmesh/certificates/mesh-identity';
import { isDispatched } from '@pixmesh/contracts/events/event-catalogue';
import { listen } from '@pixmesh/http/listen';
import { meshPeers } from '@pixmesh/http/peers';
import { startFailpoints } from '@pixmesh/service/failpoint-listener';
import { redisAddress } from '@pixmesh/service/redis-connection';
import { type Parts, startService } from '@pixmesh/service/start-service';
import type { Consumers } from '@pixmesh/kafka/consumers';
import { messagingSettings } from '@pixmesh/kafka/messaging';
import { newId } from '@pixmesh/kernel/ids';
import { checkTables } from '@pixmesh/postgres/check-tables.sql';
import { checkConnectionBudget } from '@pixmesh/postgres/connection-budget';
import { observeServer } from '@pixmesh/postgres/observe-server';
import { openConnections } from '@pixmesh/postgres/open-connections';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { deadLetterCheck } from '@pixmesh/reconciliation/dead-letter-check';
import { startReconciliation } from '@pixmesh/reconciliation/reconciliation';
import { reconciliationPeriods } from '@pixmesh/reconciliation/reconciliation-config';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';

import { createResolver, type ResolveName } from '#exchange/resolve-name.ts';
import type { IntakeDeps } from '#intake/intake.ts';
import { startRecoveries } from '#recoveries/recoveries.job.ts';
import { type Resealing, startResealing } from '#resealing/resealing.job.ts';
import { deliveryCheck } from '#reconciliation/delivery-check.ts';
import { startHistoryRetention } from '#retention/enforce-retention.job.ts';
import { databaseClock, type ScheduleClock } from '#schedule-clock.ts';
import type { Sender } from '#sending/sender.ts';
import { type Backlogs, startProcessHeartbeat } from '#start-heartbeat.ts';
import { startIntake } from '#start-intake.ts';
import { startSending } from '#start-sending.ts';
import { createRedisWakeUp, type WakeUp } from '#wake-up/redis-wake-up.ts';
import { createWakeSenders } from '#wake-up/wake-senders.ts';

import { buildApp } from './app.ts';
import type { DispatcherConfig } from './config.ts';

const NAME = 'webhook-dispatcher';
/** A statement of the queue has the work of many merchants: none of them waits for long for a row of one. */
const QUEUE_LOCK_TIMEOUT_MS = 1_000;
/** Where these can be read, the schema is there: the readiness of the service. */
const TABLES = [sql`endpoints`, sql`lanes`];

export type WebhookDispatcher = Awaited<ReturnType<typeof startWebhookDispatcher>>;

/** What tests replace: the schedule's clock, the resolver, the logger, the catalogue. */
type TestDoubles = Pick<IntakeDeps, 'isDispatched'> & {
  clock: ScheduleClock;
  resolveName: ResolveName;
  logger: Logger;
};
/**
 * Starts the roles that the configuration names. A stop goes: HTTP, consumers, recoveries, the requests in flight,
 * whose deadline is longer than another part may take to stop, then what they need.
 */
export async function startWebhookDispatcher(
  config: DispatcherConfig,
  doubles: Partial<TestDoubles> = {},
) {
  const options = { name: NAME, config, logger: doubles.logger };
  return await startService(options, async ({ logger, use }) => {
    const identity = use('identity', openMeshIdentity({ folder: config.MESH_TLS_DIR, logger }));
    use('failpoints', await startFailpoints({ config, identity }));
    observeCertificate('mesh', () => identity.current().cert);
    const broker = messagingSettings(config, identity);
    const db = use('pool', openPool(config));
    observeServer(db);
    const queueDb = use('queue pool', openQueuePool(config));
    void checkConnectionBudget({ db, logger, wanted: 2 * config.DATABASE_POOL_SIZE });
    await openConnections(db, queueDb);
    const clock = doubles.clock ?? databaseClock;
    const processId = newId();
    const resolveName = doubles.resolveName ?? createResolver();
    const sender = config.ROLES.includes('sender')
      ? startSending({ config, db: queueDb, logger, clock, processId, resolveName, use })
      : null;
    const backlogs = startProcessHeartbeat({
      config,
      broker,
      db,
      logger,
      clock,
      processId,
      sender,
      use,
    });
    use('retention', startHistoryRetention({ db, logger, keepDays: config.DELIVERY_KEEP_DAYS }));
    if (sender !== null) use('resealing', startResealingJob({ config, db, logger }));
    const redis = openRedis(config, { logger, onHint: sender?.wake ?? null });
    if (redis !== null) use('redis', redis);
    const wakeSenders = createWakeSenders({ sender, redis });
    const parts = { config, db, logger, clock, wakeSenders };
    if (sender !== null) use('recoveries', startRecoveries(parts));
    const dispatches = doubles.isDispatched ?? isDispatched;
    const intake = { ...parts, broker, db: queueDb, isDispatched: dispatches, sender, use };
    const consumers = handlesMessages(config) ? startIntake(intake) : null;
    const hasApi = consumers !== null && config.ROLES.includes('api');
    const app = hasApi
      ? use(
          'http',
          buildApi({ ...parts, ...backlogs, identity, isDispatched: dispatches, consumers, use }),
        )
      : null;
    const api = app && (await listen(app, config, config.PORT ?? 0));
    return { ports: { api }, checkReady: () => checkTables(db, TABLES) };
  });
}

function openPool(config: DispatcherConfig): Database {
  const { DATABASE_URL: url, DATABASE_POOL_SIZE: max } = config;
  return createPool({ url, applicationName: NAME, max });
}

/** For intake and senders: few statements, made all the time, with arrays of every length. */
function openQueuePool(config: DispatcherConfig): Database {
  const { DATABASE_URL: url, DATABASE_POOL_SIZE: max } = config;
  const lockTimeoutMs = QUEUE_LOCK_TIMEOUT_MS;
  return createPool({
    url,
    applicationName: NAME,
    name: 'queue',
    max,
    plansOnce: true,
    lockTimeoutMs,
  });
}

/** Where private keys are: only who can open a secret can seal it anew. */
function startResealingJob(parts: {
  config: DispatcherConfig;
  db: Database;
  logger: Logger;
}): Resealing {
  const { config, db, logger } = parts;
  return startResealing({
    db,
    logger,
    privateKeys: config.WEBHOOK_SEALING_PRIVATE_KEYS ?? '',
    startDelayMs: config.WEBHOOK_RESEALING_DELAY_MS,
  });
}

function openRedis(
  config: DispatcherConfig,
  hints: { logger: Logger; onHint: Sender['wake'] | null },
): WakeUp | null {
  const address = redisAddress(config);
  return address && createRedisWakeUp({ ...address, ...hints });
}

function handlesMessages(config: DispatcherConfig): boolean {
  return config.ROLES.includes('intake') || config.ROLES.includes('api');
}

function buildApi(
  parts: Backlogs & {
    config: DispatcherConfig;
    db: Database;
    logger: Logger;
    clock: ScheduleClock;
    wakeSenders(laneIds: readonly string[]): void;
    consumers: Consumers;
    isDispatched: IntakeDeps['isDispatched'];
    use: Parts['use'];
    identity: MeshIdentity;
  },
): FastifyInstance {
  const { config, consumers, use, identity, ...deps } = parts;
  const reconciliation = startReconciliation({
    ...deps,
    ...reconciliationPeriods(config),
    service: NAME,
    checks: [deliveryCheck(deps), deadLetterCheck(deps)],
  });
  return buildApp({
    ...deps,
    reconciliation: use('reconciliation', reconciliation),
    peers: meshPeers(identity),
    deadLetters: consumers.deadLetters,
    sealingPublicKey: config.WEBHOOK_SEALING_PUBLIC_KEY ?? '',
  });
}
