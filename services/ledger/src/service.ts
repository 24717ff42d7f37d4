import { observeCertificate } from '@pixmesh/service/observe-certificate';
import { openMeshIdentity } from '@pixmesh/certificates/mesh-identity';
import { LEDGER_EVENTS } from '@pixmesh/contracts/messages/ledger-event.v1';
import { listen } from '@pixmesh/http/listen';
import { meshPeers } from '@pixmesh/http/peers';
import { endProcess } from '@pixmesh/service/run-service';
import { startFailpoints } from '@pixmesh/service/failpoint-listener';
import { startService } from '@pixmesh/service/start-service';
import { startConsumers } from '@pixmesh/kafka/consumers';
import { messagingSettings } from '@pixmesh/kafka/messaging';
import { OUTBOX_STOP_MS_MAX, startOutbox } from '@pixmesh/kafka/outbox';
import { checkTables } from '@pixmesh/postgres/check-tables.sql';
import { checkConnectionBudget } from '@pixmesh/postgres/connection-budget';
import { createPolledSignal, startDueWorkPoll } from '@pixmesh/postgres/due-work-poll';
import { observeServer } from '@pixmesh/postgres/observe-server';
import { openConnections } from '@pixmesh/postgres/open-connections';
import { HAS_QUEUED } from '@pixmesh/postgres/outbox-queue.sql';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { startReconciliation } from '@pixmesh/reconciliation/reconciliation';
import { reconciliationPeriods } from '@pixmesh/reconciliation/reconciliation-config';

import { buildApp } from '#app.ts';
import { ledgerCommandsConsumer } from '#ledger-commands.consumer.ts';
import type { LedgerConfig } from '#config.ts';
import { createLedgerEngine } from '#engine/ledger-engine.ts';
import { republishOutcome } from '#engine/republish-outcome.sql.ts';
import { observeLedger } from '#reports.ts';
import { ledgerChecks } from '#reconciliation/ledger-checks.ts';
import { startReleasePending } from '#releases/release-pending.job.ts';
import { HAS_DUE_RELEASE, readOldestReleaseAge } from '#releases/releases.sql.ts';
import { readOldestSuspenseAge, sumOpenSuspense } from '#suspense/suspense.sql.ts';

/** One for each of the engine's writers, the relay's two, and room for reads and jobs. */
const POOL_SIZE = 12;
/** Where these can be read, the schema is there: the readiness of the service. */
const TABLES = [sql`accounts`];

/** Starts the service; a stop ends traffic first, then reconciliation, jobs, consumer, engine, outbox and pool. */
export async function startLedger(config: LedgerConfig) {
  return await startService({ name: 'ledger', config }, async ({ logger, use }) => {
    const identity = use('identity', openMeshIdentity({ folder: config.MESH_TLS_DIR, logger }));
    use('failpoints', await startFailpoints({ config, identity }));
    const pool = { url: config.DATABASE_URL, applicationName: 'ledger', max: POOL_SIZE };
    const db = use('pool', createPool(pool));
    observeServer(db);
    observeCertificate('mesh', () => identity.current().cert);
    void checkConnectionBudget({ db, logger, wanted: POOL_SIZE });
    await openConnections(db);
    const signals = { outbox: createPolledSignal(), releases: createPolledSignal() };
    const { outbox, releases } = signals;
    const messaging = {
      ...messagingSettings(config, identity),
      service: 'ledger',
      db,
      logger,
      onFatal: endProcess,
    };
    const produces = Object.values(LEDGER_EVENTS);
    use('outbox', startOutbox({ ...messaging, produces, signal: outbox }), OUTBOX_STOP_MS_MAX);
    const engine = use('engine', createLedgerEngine({ db, logger, wakeOutbox: outbox.notify }));
    const republish = async (commandId: string): Promise<void> => {
      if (await republishOutcome(db, commandId)) outbox.notify();
    };
    const consumers = use(
      'consumers',
      startConsumers({
        ...messaging,
        groups: [ledgerCommandsConsumer({ engine, republishOutcome: republish })],
        wakeOutbox: outbox.notify,
      }),
    );
    use('release of pending money', startReleasePending({ db, logger, engine, signal: releases }));
    const dueWork = { outbox: HAS_QUEUED, releases: HAS_DUE_RELEASE };
    use('due work', startDueWorkPoll({ db, logger, dueWork, signals }));
    const reconciliation = use(
      'reconciliation',
      startReconciliation({
        ...reconciliationPeriods(config),
        service: 'ledger',
        db,
        logger,
        checks: ledgerChecks({ db }),
      }),
    );
    observeLedger({
      waiting: engine.waiting,
      openSuspense: () => sumOpenSuspense(db),
      oldestSuspenseAge: () => readOldestSuspenseAge(db),
      oldestReleaseAge: () => readOldestReleaseAge(db),
    });
    const app = use(
      'http',
      buildApp({
        logger,
        db,
        engine,
        peers: meshPeers(identity),
        deadLetters: consumers.deadLetters,
        reconciliation,
      }),
    );
    const http = await listen(app, config, config.PORT);
    return { ports: { http }, checkReady: () => checkTables(db, TABLES) };
  });
}
