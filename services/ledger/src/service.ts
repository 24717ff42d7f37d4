import {
  ReceivedPixCredited,
  ReceivedPixSuspended,
} from '@pixmesh/contracts/messages/ledger-event.v1';
import { startHealth } from '@pixmesh/http/health';
import { endProcess } from '@pixmesh/http/run-service';
import { createTokenVerifier } from '@pixmesh/http/service-token';
import { createStopList } from '@pixmesh/http/stop-in-order';
import { startMessaging } from '@pixmesh/kafka/messaging';
import { createPool } from '@pixmesh/postgres/pool';
import { createLogger, type Logger } from '@pixmesh/telemetry/logger';

import { ping } from '#accounts/accounts.sql.ts';
import { buildApp } from '#app.ts';
import type { LedgerConfig } from '#config.ts';
import { observeSuspense } from '#events.ts';
import { receivedPixConsumer } from '#received-pix/received-pix.consumer.ts';
import { readOldestSuspenseAge } from '#received-pix/suspense.sql.ts';

/** A connection for each partition's command, the relay's two, and room for reads. */
const POOL_SIZE = 20;

/** Starts the service; disposing it stops traffic first, then consumer, relay and pool. */
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
  // Safe to refer ahead: `startMessaging` answers in the tick in which it starts the consumer.
  const kickOutbox = (): void => messaging.kickOutbox();
  const messaging = stopList.use(
    'messaging',
    await startMessaging({
      service: 'ledger',
      brokers: config.KAFKA_BROKERS,
      registryUrl: config.SCHEMA_REGISTRY_URL,
      topicPrefix: config.KAFKA_TOPIC_PREFIX,
      db,
      logger,
      produces: [ReceivedPixCredited, ReceivedPixSuspended],
      consumes: [receivedPixConsumer({ db, kickOutbox })],
      onFatal: endProcess,
    }),
  );
  observeSuspense(() => readOldestSuspenseAge(db));
  const app = buildApp({
    logger,
    db,
    verify: createTokenVerifier('ledger', config.SERVICE_TOKEN_PUBLIC_KEYS),
    deadLetters: messaging.deadLetters,
  });
  stopList.add('http', () => app.close());
  await app.listen({ host: config.HOST, port: config.PORT });
  const health = await startHealth({
    host: config.HOST,
    port: config.INTERNAL_PORT,
    isAlive: messaging.isAlive,
    checkReady: () => ping(db),
    failpointsAllowed: config.NODE_ENV !== 'production',
  });
  stopList.use('health', health);
  stopList.add('readiness', health.setNotReady);
}
