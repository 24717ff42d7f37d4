import type { AddressInfo } from 'node:net';

import { ApplicationChanged } from '@pixmesh/contracts/messages/account-event.v1';
import { AcquirerCallback } from '@pixmesh/contracts/messages/acquirer-callback.v1';
import { startHealth } from '@pixmesh/service/health';
import { createInternalClient, type InternalClient } from '@pixmesh/http/internal-client';
import { endProcess } from '@pixmesh/service/run-service';
import { createTokenSigner } from '@pixmesh/http/service-token';
import { createStopList } from '@pixmesh/service/stop-in-order';
import { createWakeSignal, type WakeSignal } from '@pixmesh/service/wake-signal';
import { type Messaging, startMessaging } from '@pixmesh/kafka/messaging';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { createLogger, type Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';

import { createKeyAuthenticator } from '#authentication/authenticate-key.ts';
import type { OwnerClients, OwnerService } from '#admin/owners/call-owner.ts';
import { createLimitRate } from '#rate-limit/limit-rate.ts';
import { openRateCounters } from '#rate-limit/open-rate-counters.ts';
import { startRequestLogRetention } from '#request-log/request-log-retention.job.ts';
import { startRequestLog } from '#request-log/request-log.ts';
import { announceSecurityTxt } from '#security-txt/announce-security-txt.ts';

import { buildAdminApp } from './admin-app.ts';
import { buildCallbackApp } from './callback-app.ts';
import { checkTables } from './check-ready.sql.ts';
import type { GatewayConfig } from './config.ts';
import { buildPublicApp } from './public-app.ts';

/** Callbacks, the relay's open claim and the request log; apart from requests, so that neither starves. */
const BACKGROUND_POOL_SIZE = 6;

export type Gateway = AsyncDisposable & {
  /** Ports as they are, where the configuration asked for any. */
  readonly ports: { public: number; admin: number; callback: number; internal: number };
};

type StopList = ReturnType<typeof createStopList>;
type Parts = Awaited<ReturnType<typeof openParts>>;

/** Starts the edge: three listeners for three kinds of callers, and the internal one. */
export async function startGateway(config: GatewayConfig): Promise<Gateway> {
  const logger = createLogger('gateway', config.LOG_LEVEL);
  const stops = createStopList(logger);
  try {
    const ports = await startInOrder(config, logger, stops);
    logger.info(ports, 'gateway is ready');
    return { ports, [Symbol.asyncDispose]: () => stops.stopAll() };
  } catch (error) {
    await stops.stopAll();
    throw error;
  }
}

async function startInOrder(
  config: GatewayConfig,
  logger: Logger,
  stops: StopList,
): Promise<Gateway['ports']> {
  const parts = await openParts(config, logger, stops);
  const ports = await listenAll(config, stops, buildApps(config, logger, parts));
  const health = await startHealth({
    host: config.HOST,
    port: config.INTERNAL_PORT,
    isAlive: () => parts.messaging.isAlive(),
    checkReady: () => checkTables(parts.db),
    failpointsAllowed: config.NODE_ENV !== 'production',
  });
  stops.use('internal listener', health);
  stops.add('readiness', () => health.setNotReady());
  return { ...ports, internal: health.port };
}

/** What the listeners work with; opened in the order in which it may be closed last. */
async function openParts(config: GatewayConfig, logger: Logger, stops: StopList) {
  const pool = { url: config.DATABASE_URL, applicationName: 'gateway' };
  const db = stops.use('pool', createPool({ ...pool, max: config.DATABASE_POOL_SIZE }));
  const background = stops.use('pool', createPool({ ...pool, max: BACKGROUND_POOL_SIZE }));
  const clients = await openClients(config, stops);
  const outbox = createWakeSignal();
  const joining = joinKafka(config, { logger, db: background, outbox });
  const messaging = stops.use('messaging', await joining);
  const requestLog = stops.use('request log', startRequestLog({ db: background, logger }));
  const keepDays = config.REQUEST_LOG_RETENTION_DAYS;
  stops.use('retention', startRequestLogRetention({ db: background, logger, keepDays }));
  const counters = openRateCounters(config, logger);
  if (counters !== null) stops.use('rate limit', counters);
  return { db, background, clients, outbox, messaging, requestLog, counters };
}

async function openClients(config: GatewayConfig, stops: StopList): Promise<OwnerClients> {
  const sign = await createTokenSigner(config.SERVICE_TOKEN_PRIVATE_KEY);
  const open = (service: OwnerService, url: string): InternalClient =>
    stops.use(`client of ${service}`, createInternalClient({ service, url, sign }));
  return {
    charges: open('charges', config.CHARGES_URL),
    payouts: open('payouts', config.PAYOUTS_URL),
    ledger: open('ledger', config.LEDGER_URL),
    'webhook-dispatcher': open('webhook-dispatcher', config.DISPATCHER_URL),
  };
}

async function joinKafka(
  config: GatewayConfig,
  parts: { logger: Logger; db: Database; outbox: WakeSignal },
): Promise<Messaging> {
  return await startMessaging({
    service: 'gateway',
    brokers: config.KAFKA_BROKERS,
    registryUrl: config.SCHEMA_REGISTRY_URL,
    topicPrefix: config.KAFKA_TOPIC_PREFIX,
    db: parts.db,
    logger: parts.logger,
    outbox: { produces: [AcquirerCallback, ApplicationChanged], signal: parts.outbox },
    consumes: [],
    onFatal: endProcess,
  });
}

function buildApps(config: GatewayConfig, logger: Logger, parts: Parts) {
  const { db, background, clients, outbox, requestLog, counters } = parts;
  const pepper = config.API_KEY_PEPPER;
  const requestTimeoutMs = config.REQUEST_TIMEOUT_MS;
  const wakeOutbox = outbox.notify;
  return {
    public: buildPublicApp({
      db,
      logger,
      authenticate: createKeyAuthenticator({ db, pepper }),
      limitRate: createLimitRate(counters),
      owners: clients,
      requestTimeoutMs,
      requestLog,
      securityTxt: announceSecurityTxt(config),
    }),
    admin: buildAdminApp({
      db,
      logger,
      pepper,
      clients,
      wakeOutbox,
      requestTimeoutMs,
      reconciliationTimeoutMs: config.RECONCILIATION_TIMEOUT_MS,
      bootstrapToken: config.ADMIN_BOOTSTRAP_TOKEN,
      mayActForOthers: config.NODE_ENV !== 'production',
    }),
    callback: buildCallbackApp({
      db: background,
      logger,
      wakeOutbox,
      secret: config.CALLBACK_SECRET,
    }),
  };
}

async function listenAll(
  config: GatewayConfig,
  stops: StopList,
  apps: Record<'public' | 'admin' | 'callback', FastifyInstance>,
): Promise<Omit<Gateway['ports'], 'internal'>> {
  stops.add('listeners', async () => {
    await Promise.all(Object.values(apps).map((app) => app.close()));
  });
  const host = config.HOST;
  await apps.public.listen({ host, port: config.PUBLIC_PORT });
  await apps.admin.listen({ host, port: config.ADMIN_PORT });
  await apps.callback.listen({ host, port: config.CALLBACK_PORT });
  return {
    public: portOf(apps.public),
    admin: portOf(apps.admin),
    callback: portOf(apps.callback),
  };
}

function portOf(app: FastifyInstance): number {
  return (app.server.address() as AddressInfo).port;
}
