import { LEDGER_EVENTS } from '@pixmesh/contracts/messages/ledger-event.v1';
import { startHealth } from '@pixmesh/service/health';
import { endProcess } from '@pixmesh/service/run-service';
import { createTokenVerifier } from '@pixmesh/http/service-token';
import { createStopList } from '@pixmesh/service/stop-in-order';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { startMessaging } from '@pixmesh/kafka/messaging';
import { createPool } from '@pixmesh/postgres/pool';
import { startReconciliation } from '@pixmesh/reconciliation/reconciliation';
import { reconciliationPeriods } from '@pixmesh/reconciliation/reconciliation-config';
import { createLogger, type Logger } from '@pixmesh/telemetry/logger';

import { ping } from '#accounts/accounts.sql.ts';
import { buildApp } from '#app.ts';
import { ledgerCommandsConsumer } from '#ledger-commands.consumer.ts';
import type { LedgerConfig } from '#config.ts';
import { createLedgerEngine } from '#engine/ledger-engine.ts';
import { observeLedger } from '#events.ts';
import { ledgerChecks } from '#reconciliation/ledger-checks.ts';
import { startReleasePending } from '#releases/release-pending.job.ts';
import { readOldestReleaseAge } from '#releases/releases.sql.ts';
import { readOldestSuspenseAge } from '#suspense/suspense.sql.ts';

/** One for each of the engine's writers, the relay's two, and room for reads and jobs. */
const POOL_SIZE = 12;

/** Starts the service; disposing it stops traffic first, then jobs, consumer and relay, engine and pool. */
export async function startLedger(config: LedgerConfig): Promise<AsyncDisposable> {
  const logger = createLogger('ledger', config.LOG_LEVEL);
  const stopList = createStopList(logger);
  try {
    await start(config, logger, stopList);
  } catch (error) {
    await stopList.stopAll();
    throw error;
  }
  return { [Symbol.asyncDispose]: stopList.stopAll };
}

async function start(
  config: LedgerConfig,
  logger: Logger,
  stopList: ReturnType<typeof createStopList>,
): Promise<void> {
  const db = stopList.use(
    'pool',
    createPool({ url: config.DATABASE_URL, applicationName: 'ledger', max: POOL_SIZE }),
  );
  const outbox = createWakeSignal();
  const engine = stopList.use(
    'engine',
    createLedgerEngine({ db, logger, wakeOutbox: outbox.notify }),
  );
  const messaging = stopList.use(
    'messaging',
    await startMessaging({
      service: 'ledger',
      brokers: config.KAFKA_BROKERS,
      registryUrl: config.SCHEMA_REGISTRY_URL,
      topicPrefix: config.KAFKA_TOPIC_PREFIX,
      db,
      logger,
      outbox: { produces: Object.values(LEDGER_EVENTS), signal: outbox },
      consumes: [ledgerCommandsConsumer(engine)],
      onFatal: endProcess,
    }),
  );
  const releases = stopList.use(
    'release of pending money',
    startReleasePending({ db, logger, engine }),
  );
  const reconciliation = stopList.use(
    'reconciliation',
    startReconciliation({
      db,
      logger,
      service: 'ledger',
      checks: ledgerChecks({ db }),
      ...reconciliationPeriods(config),
    }),
  );
  observeLedger({
    waiting: engine.waiting,
    oldestSuspenseAge: () => readOldestSuspenseAge(db),
    oldestReleaseAge: () => readOldestReleaseAge(db),
  });
  const app = buildApp({
    logger,
    db,
    engine,
    verify: createTokenVerifier('ledger', config.SERVICE_TOKEN_PUBLIC_KEYS),
    deadLetters: messaging.deadLetters,
    reconciliation,
  });
  stopList.add('http', () => app.close());
  await app.listen({ host: config.HOST, port: config.PORT });
  const health = await startHealth({
    host: config.HOST,
    port: config.INTERNAL_PORT,
    isAlive: () => messaging.isAlive() && releases.isAlive(),
    checkReady: () => ping(db),
    failpointsAllowed: config.NODE_ENV !== 'production',
  });
  stopList.use('health', health);
  stopList.add('readiness', health.setNotReady);
}
