import { type Acquirer, createAcquirer } from '@pixmesh/acquirer/client';
import { CHARGE_EVENTS } from '@pixmesh/contracts/messages/charge-event.v1';
import { RECEIVED_PIX_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { startHealth } from '@pixmesh/http/health';
import { createInternalClient } from '@pixmesh/http/internal-client';
import { endProcess } from '@pixmesh/http/run-service';
import { createTokenSigner, createTokenVerifier } from '@pixmesh/http/service-token';
import { createStopList } from '@pixmesh/http/stop-in-order';
import { startMessaging } from '@pixmesh/kafka/messaging';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { createLedgerReads } from '@pixmesh/reconciliation/ledger-reads';
import { type Reconciliation, startReconciliation } from '@pixmesh/reconciliation/reconciliation';
import { reconciliationPeriods } from '@pixmesh/reconciliation/reconciliation-config';
import { createLogger, type Logger } from '@pixmesh/telemetry/logger';

import { buildApp } from '#app.ts';
import { ping } from '#charges/charges.sql.ts';
import type { ChargesConfig } from '#config.ts';
import { createIssuing } from '#issuing/issuing.ts';
import { ledgerEventsConsumer } from '#payment/payment.consumer.ts';
import { lookAtCharge } from '#read-back/look-at-charge.ts';
import { startReadBackJob } from '#read-back/read-back.job.ts';
import { callbacksConsumer } from '#read-back/request-check.consumer.ts';
import { chargesChecks } from '#reconciliation/charges-checks.ts';

const POOL_SIZE = 20;
/** Room for a token, two exchanges with the acquirer and our own statements. */
const LEASE_MARGIN_MS = 2_000;

type StopList = ReturnType<typeof createStopList>;

export type RunningCharges = AsyncDisposable & { readonly url: string };

/** Starts the service; disposing it stops traffic first, then consumers, jobs and pools. */
export async function startCharges(config: ChargesConfig): Promise<RunningCharges> {
  const logger = createLogger('charges', config.LOG_LEVEL);
  const stopList = createStopList(logger);
  try {
    const url = await start(config, logger, stopList);
    return { url, [Symbol.asyncDispose]: stopList.stopAll };
  } catch (error) {
    await stopList.stopAll();
    throw error;
  }
}

async function start(config: ChargesConfig, logger: Logger, stopList: StopList): Promise<string> {
  const db = stopList.use(
    'pool',
    createPool({ url: config.DATABASE_URL, applicationName: 'charges', max: POOL_SIZE }),
  );
  const acquirer = stopList.use('acquirer', createAcquirer(acquirerConfig(config)));
  // The relay and the job are told of each other's work; both start below.
  const kickOutbox = (): void => messaging.kickOutbox();
  const kickReadBack = (): void => readBack.kick();
  const issuingDeps = { db, acquirer, logger, kickOutbox, ...issuingSettings(config) };
  const { leaseMs } = issuingDeps;
  const issuing = createIssuing(issuingDeps);
  const lookAt = lookAtCharge.bind(null, { ...issuingDeps, issuing });
  const messaging = stopList.use(
    'messaging',
    await startMessaging({
      service: 'charges',
      brokers: config.KAFKA_BROKERS,
      registryUrl: config.SCHEMA_REGISTRY_URL,
      topicPrefix: config.KAFKA_TOPIC_PREFIX,
      db,
      logger,
      produces: [...Object.values(CHARGE_EVENTS), ...Object.values(RECEIVED_PIX_COMMANDS)],
      consumes: [
        callbacksConsumer({ db, logger, kickReadBack }),
        ledgerEventsConsumer({ db, receiver: config.ACQUIRER_RECEIVER, kickOutbox }),
      ],
      onFatal: endProcess,
    }),
  );
  const readBack = startReadBackJob({ db, logger, leaseMs, lookAt });
  stopList.add('read-back', readBack.stop);
  const reconciliation = await reconcile({ config, logger, stopList, db, acquirer });
  const app = buildApp({
    logger,
    db,
    issuing,
    leaseMs,
    receiver: config.ACQUIRER_RECEIVER,
    verify: createTokenVerifier('charges', config.SERVICE_TOKEN_PUBLIC_KEYS),
    deadLetters: messaging.deadLetters,
    reconciliation,
    sealingPublicKey: config.WEBHOOK_SEALING_PUBLIC_KEY,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
  });
  stopList.add('http', () => app.close());
  await app.listen({ host: config.HOST, port: config.PORT });
  const health = await startHealth({
    host: config.HOST,
    port: config.INTERNAL_PORT,
    isAlive: () => messaging.isAlive() && readBack.isAlive(),
    checkReady: () => ping(db),
    failpointsAllowed: config.NODE_ENV !== 'production',
  });
  stopList.use('health', health);
  stopList.add('readiness', health.setNotReady);
  return app.listeningOrigin;
}

/** The ledger is read for comparison only; no charge waits for it. */
async function reconcile(parts: {
  config: ChargesConfig;
  logger: Logger;
  stopList: StopList;
  db: Database;
  acquirer: Acquirer;
}): Promise<Reconciliation> {
  const { config, logger, stopList, db, acquirer } = parts;
  const sign = await createTokenSigner(config.SERVICE_TOKEN_PRIVATE_KEY);
  const ledgerCalls = stopList.use(
    'ledger client',
    createInternalClient({ service: 'ledger', url: config.LEDGER_URL, sign }),
  );
  const reconciliation = startReconciliation({
    db,
    logger,
    service: 'charges',
    checks: chargesChecks({ db, acquirer, ledger: createLedgerReads(ledgerCalls) }),
    ...reconciliationPeriods(config),
  });
  stopList.add('reconciliation', reconciliation.stop);
  return reconciliation;
}

function issuingSettings(config: ChargesConfig) {
  return {
    receiver: config.ACQUIRER_RECEIVER,
    acquirerTimeoutMs: config.ACQUIRER_TIMEOUT_MS,
    giveUpMs: config.ISSUANCE_GIVE_UP_MS,
    leaseMs: 2 * config.ACQUIRER_TIMEOUT_MS + LEASE_MARGIN_MS,
    processingChecks: {
      firstMs: config.READ_BACK_PROCESSING_MS,
      maxMs: config.READ_BACK_PROCESSING_MS_MAX,
    },
    pendingChecks: {
      firstMs: config.READ_BACK_PENDING_MS,
      maxMs: config.READ_BACK_PENDING_MS_MAX,
    },
  };
}

function acquirerConfig(config: ChargesConfig) {
  return {
    url: config.ACQUIRER_URL,
    clientId: config.ACQUIRER_CLIENT_ID,
    clientSecret: config.ACQUIRER_CLIENT_SECRET,
    pixKey: config.ACQUIRER_PIX_KEY,
    timeoutMs: config.ACQUIRER_TIMEOUT_MS,
  };
}
