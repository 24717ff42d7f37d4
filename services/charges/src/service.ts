import { observeCertificate } from '@pixmesh/service/observe-certificate';
import { acquirerConfig } from '@pixmesh/acquirer/acquirer-settings';
import { createAcquirer } from '@pixmesh/acquirer/client';
import { type MeshIdentity, openMeshIdentity } from '@pixmesh/certificates/mesh-identity';
import { CHARGE_EVENTS, DISPUTE_EVENTS } from '@pixmesh/contracts/messages/charge-event.v1';
import { CHARGE_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { listen } from '@pixmesh/http/listen';
import { meshPeers } from '@pixmesh/http/peers';
import { createClients } from '@pixmesh/http/internal-client';
import { createLedgerHolds } from '@pixmesh/ledger-client/ledger-holds';
import { endProcess } from '@pixmesh/service/run-service';
import { startFailpoints } from '@pixmesh/service/failpoint-listener';
import { type Parts, startService } from '@pixmesh/service/start-service';
import { type Messaging, messagingSettings, startMessaging } from '@pixmesh/kafka/messaging';
import { checkTables } from '@pixmesh/postgres/check-tables.sql';
import { checkConnectionBudget } from '@pixmesh/postgres/connection-budget';
import { observeServer } from '@pixmesh/postgres/observe-server';
import { openConnections } from '@pixmesh/postgres/open-connections';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { createSharedWritesPool } from '@pixmesh/postgres/shared-writes-pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { startReconciliation } from '@pixmesh/reconciliation/reconciliation';
import { reconciliationPeriods } from '@pixmesh/reconciliation/reconciliation-config';
import type { Logger } from '@pixmesh/telemetry/logger';

import { buildApp } from '#app.ts';
import { createCheckDeps } from '#check-deps.ts';
import type { ChargesConfig } from '#config.ts';
import { startJobs } from '#jobs.ts';
import { createSignals, type Signals } from '#signals.ts';
import { ledgerEventsConsumer } from '#ledger-events.consumer.ts';
import { type CallbackChecks, createCallbackChecks } from '#status-check/callback-checks.ts';
import { callbacksConsumer } from '#status-check/callbacks.consumer.ts';
import { createNewCharges } from '#charge/creation/new-charges.sql.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { createCreditedCharges } from '#received/credited-charges.sql.ts';
import type { MarkPaidDeps } from '#received/mark-paid.ts';
import { createChargeReceipts } from '#received/receipts.sql.ts';
import { createRecordedPix } from '#received/received-pix.sql.ts';
import { chargesChecks } from '#reconciliation/charges-checks.ts';

/** Together 20. What shares statements needs few connections, and plans that are made once. */
const POOL_SIZE = 16;
const WRITES_POOL_SIZE = 4;
/** Where these can be read, the schema is there: the readiness of the service. */
const TABLES = [sql`charges`];

/** Starts the service; a stop ends traffic first, then reconciliation, jobs, consumers and pools. */
export async function startCharges(config: ChargesConfig) {
  return await startService({ name: 'charges', config }, async ({ logger, use }) => {
    const identity = use('identity', openMeshIdentity({ folder: config.MESH_TLS_DIR, logger }));
    use('failpoints', await startFailpoints({ config, identity }));
    const { db, writes } = await openPools(config, logger, use);
    observe({ config, identity, db });
    const acquirer = use('acquirer', createAcquirer(acquirerConfig(config)));
    const warmedUp = acquirer.warmUp();
    const clientOf = createClients(identity, use);
    const ledgerCalls = clientOf('ledger', config.LEDGER_URL);
    const holds = createLedgerHolds(ledgerCalls);
    const signals = createSignals();
    const shared = {
      moves: createChargeMoves(writes),
      receipts: createChargeReceipts(writes),
      recordedPix: createRecordedPix(writes),
    };
    const checkDeps = createCheckDeps({ config, db, ...shared, logger, acquirer, signals });
    const callbackChecks = createCallbackChecks({
      ...checkDeps,
      db: writes,
      // Bound late: jobs stop before messaging, whose relay publishes what they wrote, so they start after it.
      job: { takeNow: (max, take) => jobs.statusCheck.takeNow(max, take) },
    });
    const paid = { ...checkDeps, creditedCharges: createCreditedCharges(writes) };
    const messaging = use(
      'messaging',
      connect({ config, identity, paid, callbackChecks, signals }),
    );
    const jobs = startJobs({ config, checkDeps, holds, signals, use });
    const reconciliation = use(
      'reconciliation',
      startReconciliation({
        ...reconciliationPeriods(config),
        service: 'charges',
        db,
        logger,
        checks: chargesChecks({
          db,
          acquirer,
          ledger: createLedgerReads(ledgerCalls),
          dispatcher: clientOf('webhook-dispatcher', config.DISPATCHER_URL),
          healAfterMs: config.RECONCILIATION_WINDOW_MS,
          wakeOutbox: signals.outbox.notify,
          pixKey: config.ACQUIRER_PIX_KEY,
          returnWindowMs: config.DISPUTE_RETURN_WINDOW_MS,
        }),
      }),
    );
    const app = use(
      'http',
      buildApp({
        ...checkDeps,
        newCharges: createNewCharges(writes),
        holds,
        wakeReturns: signals.itemReturns.notify,
        wakeRefunds: signals.refunds.notify,
        returnWindowMs: config.DISPUTE_RETURN_WINDOW_MS,
        intentChecks: { firstMs: config.READ_BACK_REFUND_INTENT_MS },
        peers: meshPeers(identity),
        deadLetters: messaging.deadLetters,
        reconciliation,
        sealingPublicKey: config.WEBHOOK_SEALING_PUBLIC_KEY,
        requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
      }),
    );
    await warmedUp;
    const http = await listen(app, config, config.PORT);
    return { ports: { http }, url: app.listeningOrigin, checkReady: () => checkTables(db, TABLES) };
  });
}

/** What is seen of others at a scrape. */
function observe({
  config,
  identity,
  db,
}: Pick<MessagingParts, 'config' | 'identity'> & { db: Database }) {
  observeServer(db);
  observeCertificate('mesh', () => identity.current().cert);
  observeCertificate('acquirer', () => config.ACQUIRER_TLS_CERT);
}

async function openPools(config: ChargesConfig, logger: Logger, use: Parts['use']) {
  const pool = { url: config.DATABASE_URL, applicationName: 'charges' };
  const db = use('pool', createPool({ ...pool, max: POOL_SIZE }));
  const shared = createSharedWritesPool({ ...pool, max: WRITES_POOL_SIZE });
  void checkConnectionBudget({ db, logger, wanted: POOL_SIZE + WRITES_POOL_SIZE });
  const writes = use('pool of shared writes', shared);
  await openConnections(db, writes);
  return { db, writes };
}

type MessagingParts = {
  config: ChargesConfig;
  identity: MeshIdentity;
  paid: MarkPaidDeps & { db: Database; logger: Logger };
  callbackChecks: CallbackChecks;
  signals: Signals;
};

function connect({ config, identity, paid, callbackChecks, signals }: MessagingParts): Messaging {
  const { db, logger } = paid;
  return startMessaging({
    ...messagingSettings(config, identity),
    service: 'charges',
    db,
    logger,
    outbox: {
      produces: [
        ...Object.values(CHARGE_EVENTS),
        ...Object.values(DISPUTE_EVENTS),
        ...Object.values(CHARGE_COMMANDS),
      ],
      signal: signals.outbox,
      resendMs: config.COMMAND_RESEND_MS,
    },
    consumes: [
      callbacksConsumer({ logger, callbackChecks, wakeNotices: signals.notices.notify }),
      ledgerEventsConsumer(paid),
    ],
    onFatal: endProcess,
  });
}
