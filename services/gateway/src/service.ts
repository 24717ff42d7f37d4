import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { type GroupWatch, watchGroups } from '@pixmesh/kafka/watch-groups';
import { observeCertificate } from '@pixmesh/service/observe-certificate';
import { type MeshIdentity, openMeshIdentity } from '@pixmesh/certificates/mesh-identity';
import {
  AccountLimitsChanged,
  ApplicationChanged,
} from '@pixmesh/contracts/messages/account-event.v1';
import { AcquirerCallback } from '@pixmesh/contracts/messages/acquirer-callback.v1';
import { listen } from '@pixmesh/http/listen';
import { createClients } from '@pixmesh/http/internal-client';
import { isOn } from '@pixmesh/service/config';
import { endProcess } from '@pixmesh/service/run-service';
import { startFailpoints } from '@pixmesh/service/failpoint-listener';
import { type Parts, startService } from '@pixmesh/service/start-service';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import {
  createDeadLettersOfService,
  type DeadLettersOfService,
} from '@pixmesh/kafka/dead-letters-of-service';
import { type MessagingSettings, messagingSettings } from '@pixmesh/kafka/messaging';
import { OUTBOX_STOP_MS_MAX, startOutbox } from '@pixmesh/kafka/outbox';
import { checkTables } from '@pixmesh/postgres/check-tables.sql';
import { checkConnectionBudget } from '@pixmesh/postgres/connection-budget';
import { observeServer } from '@pixmesh/postgres/observe-server';
import { openConnections } from '@pixmesh/postgres/open-connections';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { type Reconciliation, startReconciliation } from '@pixmesh/reconciliation/reconciliation';
import { reconciliationPeriods } from '@pixmesh/reconciliation/reconciliation-config';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';

import { createKeyAuthenticator } from '#authentication/authenticate-key.ts';
import { answerOwnLetters } from '#admin/dead-letters/own-letters.ts';
import type { OwnerClients } from '#admin/owners/call-owner.ts';
import { createAdmitRequest } from '#limits/admit-request.ts';
import { keyDefaultOf, openRequestCounters } from '#limits/open-request-counters.ts';
import type { RequestCounters } from '#limits/request-counters.ts';
import { gatewayChecks } from '#reconciliation/gateway-checks.ts';
import { startRequestLogRetention } from '#request-log/request-log-retention.job.ts';
import { type RequestLog, startRequestLog } from '#request-log/request-log.ts';
import { securityTxtOf } from '#security-txt/security-txt-of.ts';

import { buildAdminApp } from './admin-app.ts';
import { buildCallbackApp } from './callback-app.ts';
import { callbackTls, edgeOf, type GatewayConfig } from './config.ts';
import { buildPublicApp } from './public-app.ts';

/** Callbacks, the relay's open claim and the request log; apart from requests, so that neither starves. */
const BACKGROUND_POOL_SIZE = 6;
/** What operators read of the two logs may take long: some filters have no index. No key waits for it. */
const LOGS_POOL_SIZE = 2;
/** Where these can be read, the schema is there: the readiness of the service. */
const TABLES = [sql`api_keys`, sql`callbacks`, sql`outbox`];

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** Starts the edge: three listeners for three kinds of callers. A stop ends them first, together. */
export async function startGateway(config: GatewayConfig) {
  return await startService({ name: 'gateway', config }, async ({ logger, use }) => {
    const identity = use('identity', openMeshIdentity({ folder: config.MESH_TLS_DIR, logger }));
    use('failpoints', await startFailpoints({ config, identity }));
    observeCertificates(config, identity);
    const broker = messagingSettings(config, identity);
    const { db, background, logs } = await openPools(config, logger, use);
    const clients = openClients(config, identity, use);
    const outbox = createWakeSignal();
    use(
      'outbox',
      startOutbox({
        ...broker,
        service: 'gateway',
        db: background,
        logger,
        produces: [AcquirerCallback, ApplicationChanged, AccountLimitsChanged],
        signal: outbox,
        onFatal: endProcess,
      }),
      OUTBOX_STOP_MS_MAX,
    );
    const wakeOutbox = outbox.notify;
    const deadLetters = createDeadLettersOfService({ db: background, groups: [], wakeOutbox });
    use('watch of groups', watchAllGroups(broker, logger));
    const reconciliation = use(
      'reconciliation',
      startReconciliation({
        ...reconciliationPeriods(config),
        service: 'gateway',
        db: background,
        logger,
        checks: gatewayChecks({
          db: background,
          dispatcher: clients['webhook-dispatcher'],
          wakeOutbox,
        }),
      }),
    );
    const requestLog = use('request log', startRequestLog({ db: background, logger }));
    const keepDays = config.REQUEST_LOG_RETENTION_DAYS;
    use('retention', startRequestLogRetention({ db: background, logger, keepDays }));
    const counters = use('limits', openRequestCounters(config, logger));
    const common = { config, db, logger, clients, wakeOutbox, counters };
    const apps = {
      public: buildPublic({ ...common, requestLog }),
      admin: buildAdmin({ ...common, logs, reconciliation, deadLetters }),
      callback: buildCallbackApp({
        db: background,
        logger,
        wakeOutbox,
        secrets: config.CALLBACK_SECRET,
        tls: callbackTls(config),
        edge: edgeOf(config),
      }),
    };
    use('listeners', together(Object.values(apps)));
    const ports = {
      public: await listen(apps.public, config, config.PUBLIC_PORT),
      admin: await listen(apps.admin, config, config.ADMIN_PORT),
      callback: await listen(apps.callback, config, config.CALLBACK_PORT),
    };
    return { ports, checkReady: () => checkTables(db, TABLES) };
  });
}

function observeCertificates(config: GatewayConfig, identity: MeshIdentity): void {
  observeCertificate('mesh', () => identity.current().cert);
  observeCertificate('callback', () => config.CALLBACK_TLS_CERT);
}

async function openPools(config: GatewayConfig, logger: Logger, use: Parts['use']) {
  const pool = { url: config.DATABASE_URL, applicationName: 'gateway' };
  const db = use('pool', createPool({ ...pool, max: config.DATABASE_POOL_SIZE }));
  const background = use(
    'background pool',
    createPool({ ...pool, name: 'background', max: BACKGROUND_POOL_SIZE }),
  );
  const logs = use('logs pool', createPool({ ...pool, name: 'logs', max: LOGS_POOL_SIZE }));
  observeServer(background);
  const wanted = config.DATABASE_POOL_SIZE + BACKGROUND_POOL_SIZE + LOGS_POOL_SIZE;
  void checkConnectionBudget({ db: background, logger, wanted });
  await openConnections(db, background);
  return { db, background, logs };
}

/** For the whole installation: the gateway may see the offsets of every group, and no message of any. */
function watchAllGroups(broker: MessagingSettings, logger: Logger): GroupWatch {
  const groups = Object.values(CONSUMER_GROUPS);
  return watchGroups({ ...broker, clientId: 'gateway-groups', logger, groups });
}

function openClients(
  config: GatewayConfig,
  identity: MeshIdentity,
  use: Parts['use'],
): OwnerClients {
  const open = createClients(identity, use);
  return {
    charges: open('charges', config.CHARGES_URL),
    payouts: open('payouts', config.PAYOUTS_URL),
    ledger: open('ledger', config.LEDGER_URL),
    'webhook-dispatcher': open('webhook-dispatcher', config.DISPATCHER_URL),
  };
}

type AppParts = {
  config: GatewayConfig;
  db: Database;
  logger: Logger;
  clients: OwnerClients;
  wakeOutbox(): void;
  counters: RequestCounters;
};

function buildPublic(parts: AppParts & { requestLog: RequestLog }): FastifyInstance {
  const { config, db, logger, clients, requestLog, counters } = parts;
  return buildPublicApp({
    db,
    logger,
    authenticate: createKeyAuthenticator({ db, peppers: config.API_KEY_PEPPER, logger }),
    admitRequest: createAdmitRequest(counters, keyDefaultOf(config)),
    owners: clients,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    requestLog,
    securityTxt: securityTxtOf(config),
    edge: edgeOf(config),
  });
}

function buildAdmin({
  config,
  db,
  logs,
  logger,
  clients,
  wakeOutbox,
  counters,
  reconciliation,
  deadLetters,
}: AppParts & {
  logs: Database;
  reconciliation: Reconciliation;
  deadLetters: DeadLettersOfService;
}): FastifyInstance {
  return buildAdminApp({
    db,
    logs,
    logger,
    pepper: config.API_KEY_PEPPER.current,
    clients,
    wakeOutbox,
    counters,
    keyDefault: keyDefaultOf(config),
    reconciliation,
    ownLetters: answerOwnLetters(deadLetters, logger),
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    reconciliationTimeoutMs: config.RECONCILIATION_TIMEOUT_MS,
    bootstrapToken: config.ADMIN_BOOTSTRAP_TOKEN,
    mayActForOthers: isOn(config.ACT_FOR_OTHERS, config),
    edge: edgeOf(config),
  });
}

function together(apps: readonly FastifyInstance[]) {
  return {
    drain: async () => void (await Promise.all(apps.map((app) => app.drain()))),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(apps.map((app) => app[Symbol.asyncDispose]()));
    },
  };
}
