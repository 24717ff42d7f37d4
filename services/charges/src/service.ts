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
import { startService } from '@pixmesh/service/start-service';
import { startConsumers } from '@pixmesh/kafka/consumers';
import { messagingSettings } from '@pixmesh/kafka/messaging';
import { OUTBOX_STOP_MS_MAX, startOutbox } from '@pixmesh/kafka/outbox';
import { checkTables } from '@pixmesh/postgres/check-tables.sql';
import { openServicePools } from '@pixmesh/postgres/service-pools';
import { sql } from '@pixmesh/postgres/sql';
import { createLedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { type Reconciliation, startReconciliation } from '@pixmesh/reconciliation/reconciliation';
import { reconciliationPeriods } from '@pixmesh/reconciliation/reconciliation-config';
import type { Logger } from '@pixmesh/telemetry/logger';

import { buildApp } from '#app.ts';
import { createCheckDeps } from '#check-deps.ts';
import type { ChargesConfig } from '#config.ts';
import { startJobs } from '#jobs.ts';
import { createSignals } from '#signals.ts';
import { ledgerEventsConsumer } from '#ledger-events.consumer.ts';
import { callbacksConsumer } from '#status-check/callbacks.consumer.ts';
import { createNewCharges } from '#charge/creation/new-charges.sql.ts';
import { createCreditedCharges } from '#received/credited-charges.sql.ts';
import { chargesChecks, type ChargesChecksDeps } from '#reconciliation/charges-checks.ts';

/** Where these can be read, the schema is there: the readiness of the service. */
const TABLES = [sql`charges`];

/** What it publishes: events of charges and disputes, and commands to the ledger. */
const PRODUCES = [
  ...Object.values(CHARGE_EVENTS),
  ...Object.values(DISPUTE_EVENTS),
  ...Object.values(CHARGE_COMMANDS),
];

/** Starts the service; a stop ends traffic first, then reconciliation, consumers, jobs, outbox and pools. */
export async function startCharges(config: ChargesConfig) {
  return await startService({ name: 'charges', config }, async ({ logger, use }) => {
    const identity = use('identity', openMeshIdentity({ folder: config.MESH_TLS_DIR, logger }));
    observeCertificates(config, identity);
    use('failpoints', await startFailpoints({ config, identity }));
    const { db, writes } = await openServicePools(
      { url: config.DATABASE_URL, applicationName: 'charges' },
      { logger, use },
    );
    const acquirer = use('acquirer', createAcquirer(acquirerConfig(config)));
    const warmedUp = acquirer.warmUp();
    const clientOf = createClients(identity, use);
    const ledgerCalls = clientOf('ledger', config.LEDGER_URL);
    const holds = createLedgerHolds(ledgerCalls);
    const signals = createSignals();
    const messaging = {
      ...messagingSettings(config, identity),
      service: 'charges',
      db,
      logger,
      onFatal: endProcess,
    };
    const { outbox: signal } = signals;
    const resendMs = config.COMMAND_RESEND_MS;
    const outbox = startOutbox({ ...messaging, produces: PRODUCES, signal, resendMs });
    use('outbox', outbox, OUTBOX_STOP_MS_MAX);
    const checkDeps = createCheckDeps({ config, db, writes, logger, acquirer, signals });
    const { callbackChecks } = startJobs({ config, checkDeps, writes, holds, signals, use });
    const consumers = use(
      'consumers',
      startConsumers({
        ...messaging,
        groups: [
          callbacksConsumer({ logger, callbackChecks, wakeNotices: signals.notices.notify }),
          ledgerEventsConsumer({ ...checkDeps, creditedCharges: createCreditedCharges(writes) }),
        ],
        wakeOutbox: signals.outbox.notify,
      }),
    );
    const ledger = createLedgerReads(ledgerCalls);
    const dispatcher = clientOf('webhook-dispatcher', config.DISPATCHER_URL);
    const reconciliation = use(
      'reconciliation',
      reconcile(config, { ...checkDeps, acquirer, ledger, dispatcher }),
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
        deadLetters: consumers.deadLetters,
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

function observeCertificates(config: ChargesConfig, identity: MeshIdentity): void {
  observeCertificate('mesh', () => identity.current().cert);
  observeCertificate('acquirer', () => config.ACQUIRER_TLS_CERT);
}

function reconcile(
  config: ChargesConfig,
  deps: Pick<ChargesChecksDeps, 'db' | 'acquirer' | 'ledger' | 'dispatcher' | 'wakeOutbox'> & {
    logger: Logger;
  },
): Reconciliation {
  const { db, logger } = deps;
  return startReconciliation({
    ...reconciliationPeriods(config),
    service: 'charges',
    db,
    logger,
    checks: chargesChecks({
      ...deps,
      healAfterMs: config.RECONCILIATION_WINDOW_MS,
      pixKey: config.ACQUIRER_PIX_KEY,
      returnWindowMs: config.DISPUTE_RETURN_WINDOW_MS,
    }),
  });
}
