import { settleIntent } from '@pixmesh/acquirer-orders/hold-intent';
import { acquirerConfig } from '@pixmesh/acquirer/acquirer-settings';
import { type Acquirer, createAcquirer } from '@pixmesh/acquirer/client';
import { PAYOUT_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { PAYOUT_EVENTS } from '@pixmesh/contracts/messages/payout-event.v1';
import { deadlineIn } from '@pixmesh/http/deadline';
import { startHealth } from '@pixmesh/service/health';
import { createInternalClient, type InternalClient } from '@pixmesh/http/internal-client';
import { endProcess } from '@pixmesh/service/run-service';
import { createTokenSigner, createTokenVerifier } from '@pixmesh/http/service-token';
import { createStopList } from '@pixmesh/service/stop-in-order';
import { createWakeSignal, type WakeSignal } from '@pixmesh/service/wake-signal';
import { type Messaging, startMessaging } from '@pixmesh/kafka/messaging';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { createLedgerHolds } from '@pixmesh/ledger-client/ledger-holds';
import { createLedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { type Reconciliation, startReconciliation } from '@pixmesh/reconciliation/reconciliation';
import { reconciliationPeriods } from '@pixmesh/reconciliation/reconciliation-config';
import { createLogger, type Logger } from '@pixmesh/telemetry/logger';

import { buildApp } from '#app.ts';
import type { PayoutsConfig } from '#config.ts';
import { type IntentDeps, payoutIntents } from '#creation/payout-intents.ts';
import { intentSettled } from '#events.ts';
import { ping } from '#payouts/payouts.sql.ts';
import { startReadBackJob } from '#read-back/read-back.job.ts';
import { callbacksConsumer } from '#read-back/request-check.consumer.ts';
import { payoutsChecks } from '#reconciliation/payouts-checks.ts';
import { startOverdueWatch } from '#sending/overdue-watch.job.ts';
import { startSender } from '#sending/sender.job.ts';
import type { SettlementDeps } from '#settlement/settlement-deps.ts';
import { ledgerEventsConsumer } from '#settlement/settlement.consumer.ts';

const POOL_SIZE = 20;
/** How long the ledger is waited for when the job settles an intent. */
const INTENT_TIMEOUT_MS = 5_000;

export type RunningPayouts = AsyncDisposable & {
  readonly url: string;
  /** Where health, metrics and failpoints listen. */
  readonly internalPort: number;
};

type Signals = Record<'outbox' | 'sender' | 'statusChecks', WakeSignal>;
type StopList = ReturnType<typeof createStopList>;

/** Starts the service; disposing it stops traffic first, then jobs, consumers and pools. */
export async function startPayouts(config: PayoutsConfig): Promise<RunningPayouts> {
  const logger = createLogger('payouts', config.LOG_LEVEL);
  const stopList = createStopList(logger);
  try {
    const running = await start(config, logger, stopList);
    return { ...running, [Symbol.asyncDispose]: stopList.stopAll };
  } catch (error) {
    await stopList.stopAll();
    throw error;
  }
}

async function start(
  config: PayoutsConfig,
  logger: Logger,
  stopList: StopList,
): Promise<{ url: string; internalPort: number }> {
  const db = stopList.use(
    'pool',
    createPool({ url: config.DATABASE_URL, applicationName: 'payouts', max: POOL_SIZE }),
  );
  const acquirer = stopList.use('acquirer', createAcquirer(acquirerConfig(config)));
  const sign = await createTokenSigner(config.SERVICE_TOKEN_PRIVATE_KEY);
  const ledgerCalls = stopList.use(
    'ledger client',
    createInternalClient({ service: 'ledger', url: config.LEDGER_URL, sign }),
  );
  const signals: Signals = {
    outbox: createWakeSignal(),
    sender: createWakeSignal(),
    statusChecks: createWakeSignal(),
  };
  const deps: IntentDeps = {
    db,
    logger,
    holds: createLedgerHolds(ledgerCalls),
    wakeOutbox: signals.outbox.notify,
    wakeSender: signals.sender.notify,
  };
  const settlement: SettlementDeps = { ...deps, acceptedChecks: periods(config, 'ACCEPTED') };
  const messaging = stopList.use(
    'messaging',
    await startMessaging({
      service: 'payouts',
      brokers: config.KAFKA_BROKERS,
      registryUrl: config.SCHEMA_REGISTRY_URL,
      topicPrefix: config.KAFKA_TOPIC_PREFIX,
      db,
      logger,
      outbox: {
        produces: [...Object.values(PAYOUT_EVENTS), ...Object.values(PAYOUT_COMMANDS)],
        signal: signals.outbox,
      },
      consumes: [
        callbacksConsumer({ db, logger, wakeReadBack: signals.statusChecks.notify }),
        ledgerEventsConsumer(settlement),
      ],
      onFatal: endProcess,
    }),
  );
  const jobs = await startJobs({ config, stopList, acquirer, deps, settlement, signals });
  const reconciliation = stopList.use(
    'reconciliation',
    reconcile({ config, db, logger, acquirer, ledgerCalls }),
  );
  const url = await listen({ config, stopList, deps, messaging, reconciliation });
  const health = await startHealth({
    host: config.HOST,
    port: config.INTERNAL_PORT,
    isAlive: () => messaging.isAlive() && jobs.sender.isAlive() && jobs.readBack.isAlive(),
    checkReady: () => ping(db),
    failpointsAllowed: config.NODE_ENV !== 'production',
  });
  stopList.use('health', health);
  stopList.add('readiness', health.setNotReady);
  return { url, internalPort: health.port };
}

function reconcile(parts: {
  config: PayoutsConfig;
  db: Database;
  logger: Logger;
  acquirer: Acquirer;
  ledgerCalls: InternalClient;
}): Reconciliation {
  const { config, db, logger, acquirer, ledgerCalls } = parts;
  return startReconciliation({
    db,
    logger,
    service: 'payouts',
    checks: payoutsChecks({
      db,
      acquirer,
      ledger: createLedgerReads(ledgerCalls),
      pixKey: config.ACQUIRER_PIX_KEY,
    }),
    ...reconciliationPeriods(config),
  });
}

type Parts = { config: PayoutsConfig; stopList: StopList; deps: IntentDeps };

/** What goes on by itself: sending, reading back, settling intents, and telling of what takes too long. */
async function startJobs(
  parts: Parts & { acquirer: Acquirer; settlement: SettlementDeps; signals: Signals },
) {
  const { config, stopList, deps, settlement, acquirer, signals } = parts;
  const exchange = {
    ...settlement,
    acquirer,
    acquirerTimeoutMs: config.ACQUIRER_TIMEOUT_MS,
    unknownChecks: periods(config, 'UNKNOWN'),
  };
  const intents = payoutIntents(deps);
  const sender = stopList.use(
    'sender',
    await startSender({ ...exchange, slots: config.SEND_SLOTS, signal: signals.sender }),
  );
  const readBack = stopList.use(
    'read-back',
    startReadBackJob(
      {
        ...exchange,
        signal: signals.statusChecks,
        refusalWaitMs: config.REFUSAL_WAIT_MS,
        intentChecks: periods(config, 'INTENT'),
        wakeSender: deps.wakeSender,
        settleIntent: async (intent) => {
          const outcome = await settleIntent(intents, intent, deadlineIn(INTENT_TIMEOUT_MS));
          intentSettled(outcome.kind);
          return outcome;
        },
      },
      INTENT_TIMEOUT_MS,
    ),
  );
  stopList.use('overdue watch', startOverdueWatch(deps));
  return { sender, readBack };
}

async function listen(
  parts: Parts & { messaging: Messaging; reconciliation: Reconciliation },
): Promise<string> {
  const { config, stopList, deps, messaging, reconciliation } = parts;
  const app = buildApp({
    ...deps,
    intentChecks: periods(config, 'INTENT'),
    verify: createTokenVerifier('payouts', config.SERVICE_TOKEN_PUBLIC_KEYS),
    deadLetters: messaging.deadLetters,
    reconciliation,
    sealingPublicKey: config.WEBHOOK_SEALING_PUBLIC_KEY,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
  });
  stopList.add('http', () => app.close());
  await app.listen({ host: config.HOST, port: config.PORT });
  return app.listeningOrigin;
}

function periods(config: PayoutsConfig, of: 'INTENT' | 'UNKNOWN' | 'ACCEPTED') {
  return { firstMs: config[`READ_BACK_${of}_MS`], maxMs: config[`READ_BACK_${of}_MS_MAX`] };
}
