import { observeCertificate } from '@pixmesh/service/observe-certificate';
import { acquirerConfig } from '@pixmesh/acquirer/acquirer-settings';
import { createAcquirer } from '@pixmesh/acquirer/client';
import { type MeshIdentity, openMeshIdentity } from '@pixmesh/certificates/mesh-identity';
import { ACCOUNT_BREAKS_PATH, AccountBreaks } from '@pixmesh/contracts/internal/account-breaks';
import { PAYOUT_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { PAYOUT_EVENTS } from '@pixmesh/contracts/messages/payout-event.v1';
import { listen } from '@pixmesh/http/listen';
import { meshPeers } from '@pixmesh/http/peers';
import { createClients, type InternalClient } from '@pixmesh/http/internal-client';
import { endProcess } from '@pixmesh/service/run-service';
import { startFailpoints } from '@pixmesh/service/failpoint-listener';
import { requestJson } from '@pixmesh/http/request-json';
import { startService } from '@pixmesh/service/start-service';
import { startConsumers } from '@pixmesh/kafka/consumers';
import { messagingSettings } from '@pixmesh/kafka/messaging';
import { OUTBOX_STOP_MS_MAX, startOutbox } from '@pixmesh/kafka/outbox';
import { checkTables } from '@pixmesh/postgres/check-tables.sql';
import { openServicePools } from '@pixmesh/postgres/service-pools';
import { sql } from '@pixmesh/postgres/sql';
import { createLedgerHolds } from '@pixmesh/ledger-client/ledger-holds';
import { createLedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { type Reconciliation, startReconciliation } from '@pixmesh/reconciliation/reconciliation';
import { reconciliationPeriods } from '@pixmesh/reconciliation/reconciliation-config';
import type { Logger } from '@pixmesh/telemetry/logger';

import { buildApp } from '#app.ts';
import { createCheckDeps, createSendingDeps } from '#check-deps.ts';
import type { PayoutsConfig } from '#config.ts';
import { createIntentCommits } from '#creation/commit-intents.sql.ts';
import { createNewIntents } from '#creation/intents.sql.ts';
import { startJobs } from '#jobs.ts';
import { startSender } from '#sending/sender.job.ts';
import { callbacksConsumer } from '#status-check/callbacks.consumer.ts';
import { payoutsChecks, type PayoutsChecksDeps } from '#reconciliation/payouts-checks.ts';
import { createSignals } from '#signals.ts';
import { type BreakSources, startBreakWatch } from '#stops/watch-breaks.job.ts';
import { ledgerEventsConsumer } from '#settlement/ledger-events.consumer.ts';

/** Where these can be read, the schema is there: the readiness of the service. */
const TABLES = [sql`payouts`];

/** What it publishes: events of payouts, and commands to the ledger. */
const PRODUCES = [...Object.values(PAYOUT_EVENTS), ...Object.values(PAYOUT_COMMANDS)];

/** Starts the service; a stop ends traffic first, then reconciliation, consumers, jobs, outbox and pools. */
export async function startPayouts(config: PayoutsConfig) {
  return await startService({ name: 'payouts', config }, async ({ logger, use }) => {
    const identity = use('identity', openMeshIdentity({ folder: config.MESH_TLS_DIR, logger }));
    observeCertificates(config, identity);
    use('failpoints', await startFailpoints({ config, identity }));
    const { db, writes } = await openServicePools(
      { url: config.DATABASE_URL, applicationName: 'payouts' },
      { logger, use },
    );
    const acquirer = use('acquirer', createAcquirer(acquirerConfig(config)));
    const warmedUp = acquirer.warmUp();
    const clientOf = createClients(identity, use);
    const ledgerCalls = clientOf('ledger', config.LEDGER_URL);
    const signals = createSignals();
    const messaging = {
      ...messagingSettings(config, identity),
      service: 'payouts',
      db,
      logger,
      onFatal: endProcess,
    };
    const { outbox: signal } = signals;
    const resendMs = config.COMMAND_RESEND_MS;
    const outbox = startOutbox({ ...messaging, produces: PRODUCES, signal, resendMs });
    use('outbox', outbox, OUTBOX_STOP_MS_MAX);
    const sending = createSendingDeps({ config, db, writes, logger, acquirer, signals });
    const slots = { slots: config.SEND_SLOTS, slotWaitMs: config.SEND_WAIT_MS };
    const sender = use('sender', startSender({ ...sending, ...slots, signal: signals.sender }));
    const intents = {
      ...sending,
      commits: createIntentCommits(writes),
      holds: createLedgerHolds(ledgerCalls),
      sendAtOnce: sender.sendAtOnce,
    };
    const checkDeps = createCheckDeps({ config, acquirer, intents, signals });
    const { callbackChecks } = startJobs({ config, checkDeps, writes, signals, use });
    const consumers = use(
      'consumers',
      startConsumers({
        ...messaging,
        groups: [callbacksConsumer({ logger, callbackChecks }), ledgerEventsConsumer(sending)],
        wakeOutbox: signals.outbox.notify,
      }),
    );
    const ledger = createLedgerReads(ledgerCalls);
    const dispatcher = clientOf('webhook-dispatcher', config.DISPATCHER_URL);
    const checked = reconcile(config, { ...checkDeps, ledger, dispatcher });
    const reconciliation = use('reconciliation', checked);
    const chargesCalls = clientOf('charges', config.CHARGES_URL);
    const sources = breakSources(chargesCalls, ledgerCalls, reconciliation.accountBreaks);
    use('break watch', startBreakWatch({ db, logger, sources }));
    const app = use(
      'http',
      buildApp({
        ...intents,
        ...checkDeps,
        newIntents: createNewIntents(writes),
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

function observeCertificates(config: PayoutsConfig, identity: MeshIdentity): void {
  observeCertificate('mesh', () => identity.current().cert);
  observeCertificate('acquirer', () => config.ACQUIRER_TLS_CERT);
}

function reconcile(
  config: PayoutsConfig,
  deps: Pick<PayoutsChecksDeps, 'db' | 'acquirer' | 'ledger' | 'dispatcher' | 'wakeOutbox'> & {
    logger: Logger;
  },
): Reconciliation {
  const { db, logger } = deps;
  return startReconciliation({
    ...reconciliationPeriods(config),
    service: 'payouts',
    db,
    logger,
    checks: payoutsChecks({
      ...deps,
      healAfterMs: config.RECONCILIATION_WINDOW_MS,
      pixKey: config.ACQUIRER_PIX_KEY,
    }),
  });
}

function breakSources(
  chargesCalls: InternalClient,
  ledgerCalls: InternalClient,
  payouts: BreakSources['payouts'],
): BreakSources {
  return {
    charges: () => readBreaks(chargesCalls, 'charges'),
    ledger: () => readBreaks(ledgerCalls, 'the ledger'),
    payouts,
  };
}

async function readBreaks(client: InternalClient, service: string) {
  const route = `GET ${ACCOUNT_BREAKS_PATH}`;
  return (await requestJson(client, AccountBreaks, { service, route })).breaks;
}
