import { acquirerConfig } from '@pixmesh/acquirer/acquirer-settings';
import { createAcquirer } from '@pixmesh/acquirer/client';
import { type MeshIdentity, openMeshIdentity } from '@pixmesh/certificates/mesh-identity';
import { CHARGE_EVENTS, DISPUTE_EVENTS } from '@pixmesh/contracts/messages/charge-event.v1';
import { CHARGE_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { listen } from '@pixmesh/http/listen';
import { meshPeers } from '@pixmesh/http/peers';
import { createInternalClient, type InternalClient } from '@pixmesh/http/internal-client';
import { createLedgerHolds } from '@pixmesh/ledger-client/ledger-holds';
import { endProcess } from '@pixmesh/service/run-service';
import { startFailpoints } from '@pixmesh/service/failpoint-listener';
import { startService } from '@pixmesh/service/start-service';
import { type Messaging, messagingSettings, startMessaging } from '@pixmesh/kafka/messaging';
import { checkConnectionBudget } from '@pixmesh/postgres/connection-budget';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { createLedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { startReconciliation } from '@pixmesh/reconciliation/reconciliation';
import { reconciliationPeriods } from '@pixmesh/reconciliation/reconciliation-config';
import type { Logger } from '@pixmesh/telemetry/logger';

import { buildApp } from '#app.ts';
import { ping } from '#charge/charges.sql.ts';
import { createCheckDeps } from '#check-deps.ts';
import type { ChargesConfig } from '#config.ts';
import { startJobs } from '#jobs.ts';
import { createSignals, type Signals } from '#signals.ts';
import { ledgerEventsConsumer } from '#ledger-events.consumer.ts';
import { callbacksConsumer } from '#status-check/callbacks.consumer.ts';
import { type ChargeMoves, createChargeMoves } from '#charge/move-charge.ts';
import { chargesChecks } from '#reconciliation/charges-checks.ts';

const POOL_SIZE = 20;
/** Starts the service; a stop ends traffic first, then reconciliation, jobs, consumers and pools. */
export async function startCharges(config: ChargesConfig) {
  return await startService({ name: 'charges', config }, async ({ logger, use }) => {
    const identity = use('identity', openMeshIdentity({ folder: config.MESH_TLS_DIR, logger }));
    use('failpoints', await startFailpoints({ config, identity }));
    const pool = { url: config.DATABASE_URL, applicationName: 'charges', max: POOL_SIZE };
    const db = use('pool', createPool(pool));
    void checkConnectionBudget({ db, logger, wanted: POOL_SIZE });
    const acquirer = use('acquirer', createAcquirer(acquirerConfig(config)));
    const ledgerCalls = use('ledger client', callLedger(config, identity));
    const holds = createLedgerHolds(ledgerCalls);
    const signals = createSignals();
    const moves = createChargeMoves(db);
    const checkDeps = createCheckDeps({ config, db, moves, logger, acquirer, signals });
    const messaging = use('messaging', connect({ config, identity, db, moves, logger, signals }));
    startJobs({ config, db, logger, acquirer, holds, use, checkDeps, signals });
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
          dispatcher: use('dispatcher client', callDispatcher(config, identity)),
          healAfterMs: config.RECONCILIATION_WINDOW_MS,
          wakeOutbox: signals.outbox.notify,
          pixKey: config.ACQUIRER_PIX_KEY,
        }),
      }),
    );
    const app = use(
      'http',
      buildApp({
        ...checkDeps,
        holds,
        wakeStatusChecks: signals.statusChecks.notify,
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
    const http = await listen(app, config, config.PORT);
    return { ports: { http }, url: app.listeningOrigin, checkReady: () => ping(db) };
  });
}

type CommonParts = {
  config: ChargesConfig;
  identity: MeshIdentity;
  db: Database;
  moves: ChargeMoves;
  logger: Logger;
  signals: Signals;
};

/** Asked by reconciliation whether every event has arrived. */
function callDispatcher(config: ChargesConfig, identity: MeshIdentity): InternalClient {
  const url = config.DISPATCHER_URL;
  return createInternalClient({ service: 'webhook-dispatcher', url, identity });
}

/** The ledger answers holds of refunds, and is read for comparison; no charge waits for it. */
function callLedger(config: ChargesConfig, identity: MeshIdentity): InternalClient {
  return createInternalClient({ service: 'ledger', url: config.LEDGER_URL, identity });
}

function connect({ config, identity, db, moves, logger, signals }: CommonParts): Messaging {
  const wakeOutbox = signals.outbox.notify;
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
      callbacksConsumer({
        db,
        logger,
        wakeStatusChecks: signals.statusChecks.notify,
        wakeNotices: signals.notices.notify,
      }),
      ledgerEventsConsumer({ db, moves, logger, receiver: config.ACQUIRER_RECEIVER, wakeOutbox }),
    ],
    onFatal: endProcess,
  });
}
