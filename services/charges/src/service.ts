import { acquirerConfig } from '@pixmesh/acquirer/acquirer-settings';
import { type Acquirer, createAcquirer } from '@pixmesh/acquirer/client';
import { CHARGE_EVENTS, DISPUTE_EVENTS } from '@pixmesh/contracts/messages/charge-event.v1';
import { CHARGE_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { startHealth } from '@pixmesh/service/health';
import { createInternalClient, type InternalClient } from '@pixmesh/http/internal-client';
import { createLedgerHolds } from '@pixmesh/ledger-client/ledger-holds';
import { endProcess } from '@pixmesh/service/run-service';
import { createTokenSigner, createTokenVerifier } from '@pixmesh/http/service-token';
import { createStopList } from '@pixmesh/service/stop-in-order';
import { createWakeSignal, type WakeSignal } from '@pixmesh/service/wake-signal';
import { type ConsumerGroup, type Messaging, startMessaging } from '@pixmesh/kafka/messaging';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { createLedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { type Reconciliation, startReconciliation } from '@pixmesh/reconciliation/reconciliation';
import { reconciliationPeriods } from '@pixmesh/reconciliation/reconciliation-config';
import { createLogger, type Logger } from '@pixmesh/telemetry/logger';

import { buildApp } from '#app.ts';
import { ping } from '#charge/charges.sql.ts';
import type { ChargesConfig } from '#config.ts';
import { createIssuing } from '#charge/issuing/issuing.ts';
import { type JobSignals, startJobs } from '#jobs.ts';
import { ledgerEventsConsumer } from '#ledger-events.consumer.ts';
import { callbacksConsumer } from '#status-check/callbacks.consumer.ts';
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
  const outbox = createWakeSignal();
  const signals: JobSignals = {
    statusChecks: createWakeSignal(),
    notices: createWakeSignal(),
    itemReturns: createWakeSignal(),
    refunds: createWakeSignal(),
  };
  const wakeOutbox = outbox.notify;
  const issuingDeps = { db, acquirer, logger, wakeOutbox, ...issuingSettings(config) };
  const issuing = createIssuing(issuingDeps);
  const ledgerCalls = stopList.use('ledger client', await callLedger(config));
  const holds = createLedgerHolds(ledgerCalls);
  const checkDeps = { ...issuingDeps, issuing };
  const consumes = [
    callbacksConsumer({
      db,
      logger,
      wakeStatusChecks: signals.statusChecks.notify,
      wakeNotices: signals.notices.notify,
    }),
    ledgerEventsConsumer({ db, logger, receiver: config.ACQUIRER_RECEIVER, wakeOutbox }),
  ];
  const messaging = await connectMessaging({ config, logger, stopList, db, outbox, consumes });
  const jobs = startJobs({ config, db, logger, acquirer, holds, stopList, checkDeps, signals });
  const reconciliation = reconcile({ config, logger, stopList, db, acquirer, ledgerCalls });
  const app = buildApp({
    ...checkDeps,
    holds,
    wakeStatusChecks: signals.statusChecks.notify,
    wakeReturns: signals.itemReturns.notify,
    returnWindowMs: config.DISPUTE_RETURN_WINDOW_MS,
    wakeRefunds: signals.refunds.notify,
    intentChecks: { firstMs: config.READ_BACK_REFUND_INTENT_MS },
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
    isAlive: () => messaging.isAlive() && jobs.isAlive(),
    checkReady: () => ping(db),
    failpointsAllowed: config.NODE_ENV !== 'production',
  });
  stopList.use('health', health);
  stopList.add('readiness', health.setNotReady);
  return app.listeningOrigin;
}

async function connectMessaging(parts: {
  config: ChargesConfig;
  logger: Logger;
  stopList: StopList;
  db: Database;
  outbox: WakeSignal;
  consumes: readonly ConsumerGroup[];
}): Promise<Messaging> {
  const { config, logger, stopList, db, outbox, consumes } = parts;
  const messaging = await startMessaging({
    service: 'charges',
    brokers: config.KAFKA_BROKERS,
    registryUrl: config.SCHEMA_REGISTRY_URL,
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
    db,
    logger,
    outbox: {
      produces: [
        ...Object.values(CHARGE_EVENTS),
        ...Object.values(DISPUTE_EVENTS),
        ...Object.values(CHARGE_COMMANDS),
      ],
      signal: outbox,
    },
    consumes,
    onFatal: endProcess,
  });
  return stopList.use('messaging', messaging);
}

/** The ledger answers holds of refunds, and is read for comparison; no charge waits for it. */
async function callLedger(config: ChargesConfig): Promise<InternalClient> {
  const sign = await createTokenSigner(config.SERVICE_TOKEN_PRIVATE_KEY);
  return createInternalClient({ service: 'ledger', url: config.LEDGER_URL, sign });
}

function reconcile(parts: {
  config: ChargesConfig;
  logger: Logger;
  stopList: StopList;
  db: Database;
  acquirer: Acquirer;
  ledgerCalls: InternalClient;
}): Reconciliation {
  const { config, logger, stopList, db, acquirer, ledgerCalls } = parts;
  return stopList.use(
    'reconciliation',
    startReconciliation({
      db,
      logger,
      service: 'charges',
      checks: chargesChecks({
        db,
        acquirer,
        ledger: createLedgerReads(ledgerCalls),
        pixKey: config.ACQUIRER_PIX_KEY,
      }),
      ...reconciliationPeriods(config),
    }),
  );
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
