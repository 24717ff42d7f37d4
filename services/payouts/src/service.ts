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
import { type Parts, startService } from '@pixmesh/service/start-service';
import { type Messaging, messagingSettings, startMessaging } from '@pixmesh/kafka/messaging';
import { checkTables } from '@pixmesh/postgres/check-tables.sql';
import { checkConnectionBudget } from '@pixmesh/postgres/connection-budget';
import { observeServer } from '@pixmesh/postgres/observe-server';
import { openConnections } from '@pixmesh/postgres/open-connections';
import { createPool } from '@pixmesh/postgres/pool';
import { createSharedWritesPool } from '@pixmesh/postgres/shared-writes-pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLedgerHolds } from '@pixmesh/ledger-client/ledger-holds';
import { createLedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { startReconciliation } from '@pixmesh/reconciliation/reconciliation';
import { reconciliationPeriods } from '@pixmesh/reconciliation/reconciliation-config';
import type { Logger } from '@pixmesh/telemetry/logger';

import { buildApp } from '#app.ts';
import { createCheckDeps } from '#check-deps.ts';
import type { PayoutsConfig } from '#config.ts';
import { createIntentCommits } from '#creation/commit-intents.sql.ts';
import { createNewIntents } from '#creation/intents.sql.ts';
import type { IntentDeps } from '#creation/payout-intents.ts';
import { startJobs } from '#jobs.ts';
import { createPayoutMoves } from '#payouts/move-payouts.sql.ts';
import { type CallbackChecks, createCallbackChecks } from '#status-check/callback-checks.ts';
import { callbacksConsumer } from '#status-check/callbacks.consumer.ts';
import { payoutsChecks } from '#reconciliation/payouts-checks.ts';
import { createSignals, type Signals } from '#signals.ts';
import { type BreakSources, startBreakWatch } from '#stops/watch-breaks.job.ts';
import type { SettlementDeps } from '#settlement/settlement-deps.ts';
import { ledgerEventsConsumer } from '#settlement/ledger-events.consumer.ts';

/** Together 20. What shares statements needs few connections, and plans that are made once. */
const POOL_SIZE = 16;
const WRITES_POOL_SIZE = 4;
/** Where these can be read, the schema is there: the readiness of the service. */
const TABLES = [sql`payouts`];

/** Starts the service; a stop ends traffic first, then reconciliation, jobs, consumers and pools. */
export async function startPayouts(config: PayoutsConfig) {
  return await startService({ name: 'payouts', config }, async ({ logger, use }) => {
    const identity = openIdentity(config, logger, use);
    use('failpoints', await startFailpoints({ config, identity }));
    const { db, writes } = await openPools(config, logger, use);
    const acquirer = use('acquirer', createAcquirer(acquirerConfig(config)));
    const warmedUp = acquirer.warmUp();
    const clientOf = createClients(identity, use);
    const ledgerCalls = clientOf('ledger', config.LEDGER_URL);
    const signals = createSignals();
    const deps: IntentDeps & { wakeStatusChecks(): void } = {
      db,
      commits: createIntentCommits(writes),
      logger,
      holds: createLedgerHolds(ledgerCalls),
      wakeOutbox: signals.outbox.notify,
      wakeSender: signals.sender.notify,
      wakeStatusChecks: signals.statusChecks.notify,
      // Bound late: jobs stop before messaging, whose relay publishes what they wrote, so they start after it.
      sendAtOnce: (commit) => jobs.sender.sendAtOnce(commit),
    };
    const checkDeps = createCheckDeps({ config, acquirer, moves: createPayoutMoves(writes), deps });
    const callbackChecks = createCallbackChecks({
      ...checkDeps,
      db: writes,
      job: { takeNow: (max, take) => jobs.statusCheck.takeNow(max, take) },
    });
    const messaging = use(
      'messaging',
      connect({ config, identity, settlement: checkDeps, callbackChecks, signals }),
    );
    const jobs = startJobs({ config, checkDeps, signals, use });
    const reconciliation = use(
      'reconciliation',
      startReconciliation({
        ...reconciliationPeriods(config),
        service: 'payouts',
        db,
        logger,
        checks: payoutsChecks({
          db,
          acquirer,
          ledger: createLedgerReads(ledgerCalls),
          dispatcher: clientOf('webhook-dispatcher', config.DISPATCHER_URL),
          healAfterMs: config.RECONCILIATION_WINDOW_MS,
          wakeOutbox: signals.outbox.notify,
          pixKey: config.ACQUIRER_PIX_KEY,
        }),
      }),
    );
    const chargesCalls = clientOf('charges', config.CHARGES_URL);
    const sources = breakSources(chargesCalls, ledgerCalls, reconciliation.accountBreaks);
    use('break watch', startBreakWatch({ db, logger, sources }));
    const app = use(
      'http',
      buildApp({
        ...deps,
        ...checkDeps,
        newIntents: createNewIntents(writes),
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

function openIdentity(config: PayoutsConfig, logger: Logger, use: Parts['use']): MeshIdentity {
  const identity = use('identity', openMeshIdentity({ folder: config.MESH_TLS_DIR, logger }));
  observeCertificate('mesh', () => identity.current().cert);
  observeCertificate('acquirer', () => config.ACQUIRER_TLS_CERT);
  return identity;
}

async function openPools(config: PayoutsConfig, logger: Logger, use: Parts['use']) {
  const pool = { url: config.DATABASE_URL, applicationName: 'payouts' };
  const db = use('pool', createPool({ ...pool, max: POOL_SIZE }));
  observeServer(db);
  const shared = createSharedWritesPool({ ...pool, max: WRITES_POOL_SIZE });
  void checkConnectionBudget({ db, logger, wanted: POOL_SIZE + WRITES_POOL_SIZE });
  const writes = use('pool of shared writes', shared);
  await openConnections(db, writes);
  return { db, writes };
}

type MessagingParts = {
  config: PayoutsConfig;
  identity: MeshIdentity;
  settlement: SettlementDeps;
  callbackChecks: CallbackChecks;
  signals: Signals;
};

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

function connect({
  config,
  identity,
  settlement,
  callbackChecks,
  signals,
}: MessagingParts): Messaging {
  const { db, logger } = settlement;
  return startMessaging({
    ...messagingSettings(config, identity),
    service: 'payouts',
    db,
    logger,
    outbox: {
      produces: [...Object.values(PAYOUT_EVENTS), ...Object.values(PAYOUT_COMMANDS)],
      signal: signals.outbox,
      resendMs: config.COMMAND_RESEND_MS,
    },
    consumes: [callbacksConsumer({ logger, callbackChecks }), ledgerEventsConsumer(settlement)],
    onFatal: endProcess,
  });
}
