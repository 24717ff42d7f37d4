import type { AddressInfo } from 'node:net';

import { isDispatched } from '@pixmesh/contracts/events/event-catalogue';
import { startHealth } from '@pixmesh/service/health';
import { createTokenVerifier } from '@pixmesh/http/service-token';
import { createStopList } from '@pixmesh/service/stop-in-order';
import type { Messaging } from '@pixmesh/kafka/messaging';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { createLogger, type Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';

import { createResolver, type ResolveName } from '#exchange/resolve-name.ts';
import type { IntakeDeps } from '#intake/intake.ts';
import { startRecoveries } from '#recoveries/recoveries.job.ts';
import { type Resealing, startResealing } from '#resealing/resealing.job.ts';
import { startHistoryRetention } from '#retention/enforce-retention.job.ts';
import { databaseClock, type ScheduleClock } from '#schedule-clock.ts';
import type { Sender } from '#sending/sender.ts';
import { startIntake } from '#start-intake.ts';
import { startSending } from '#start-sending.ts';
import { createRedisWakeUp, type WakeUp } from '#wake-up/redis-wake-up.ts';

import { buildApp } from './app.ts';
import type { DispatcherConfig } from './config.ts';

const NAME = 'webhook-dispatcher';

export type WebhookDispatcher = AsyncDisposable & {
  readonly internalPort: number;
  /** Null without the role `api`. */
  readonly apiPort: number | null;
};

/** What tests put in place of the world: the schedule's clock, the look-up of names, the log, the catalogue. */
type Seams = Pick<IntakeDeps, 'isDispatched'> & {
  clock: ScheduleClock;
  resolveName: ResolveName;
  logger: Logger;
};
type StopList = ReturnType<typeof createStopList>;

/**
 * Starts the roles that the configuration names. A stop goes: not ready, HTTP, consumers, sends in flight,
 * then what they need. Sends are drained between two lists, because the deadline of a request is longer than
 * a step of a list may take.
 */
export async function startWebhookDispatcher(
  config: DispatcherConfig,
  seams: Partial<Seams> = {},
): Promise<WebhookDispatcher> {
  const logger = seams.logger ?? createLogger(NAME, config.LOG_LEVEL);
  const stops = { resources: createStopList(logger), traffic: createStopList(logger) };
  const running: { sender: Sender | null } = { sender: null };
  try {
    const ports = await startRoles({ config, logger, seams, stops, running });
    return { ...ports, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function stop(): Promise<void> {
    await stops.traffic.stopAll();
    await running.sender?.stop();
    await stops.resources.stopAll();
  }
}

type Start = {
  config: DispatcherConfig;
  logger: Logger;
  seams: Partial<Seams>;
  stops: { resources: StopList; traffic: StopList };
  running: { sender: Sender | null };
};

async function startRoles(
  start: Start,
): Promise<Pick<WebhookDispatcher, 'internalPort' | 'apiPort'>> {
  const { config, logger, seams, stops } = start;
  const { resources, traffic } = stops;
  const db = resources.use('pool', openPool(config));
  const queueDb = resources.use('queue pool', openQueuePool(config));
  const sender = config.ROLES.includes('sender') ? startSender(start, queueDb) : null;
  start.running.sender = sender;
  const keepDays = config.DELIVERY_KEEP_DAYS;
  resources.use('retention', startHistoryRetention({ db, logger, keepDays }));
  if (sender !== null) resources.use('resealing', startResealingJob(start, db));
  const redis = openRedis(config, { logger, onHint: sender?.wake ?? null });
  if (redis !== null) resources.use('redis', redis);
  const parts = { config, db, logger, clock: seams.clock ?? databaseClock, wakeSenders };
  if (sender !== null) traffic.use('recoveries', startRecoveries(parts));
  const intake = { ...parts, db: queueDb, isDispatched: seams.isDispatched ?? isDispatched };
  const messaging = needsMessaging(config)
    ? traffic.use('messaging', await startIntake(intake))
    : null;
  const app = messaging === null ? null : await listen({ ...parts, messaging });
  if (app !== null) traffic.add('http', () => app.close());
  const health = await startHealth({
    host: config.HOST,
    port: config.INTERNAL_PORT,
    isAlive: () => (messaging?.isAlive() ?? true) && (sender?.isAlive() ?? true),
    checkReady: async () => void (await db.query(named('ready', sql`select 1 as ready`))),
    failpointsAllowed: config.NODE_ENV !== 'production',
  });
  resources.use('health', health);
  traffic.add('readiness', () => health.setNotReady());
  return { internalPort: health.port, apiPort: app === null ? null : portOf(app) };

  function wakeSenders(laneIds: readonly string[]): void {
    sender?.wake(laneIds);
    redis?.publish(laneIds);
  }
}

function openPool(config: DispatcherConfig): Database {
  const { DATABASE_URL: url, DATABASE_POOL_SIZE: max } = config;
  return createPool({ url, applicationName: NAME, max });
}

/** For intake and senders: few statements, made all the time, with arrays of every length. */
function openQueuePool(config: DispatcherConfig): Database {
  const { DATABASE_URL: url, DATABASE_POOL_SIZE: max } = config;
  return createPool({ url, applicationName: NAME, max, plansOnce: true });
}

function startSender({ config, logger, seams, stops }: Start, db: Database): Sender {
  return startSending({
    config,
    db,
    logger,
    clock: seams.clock ?? databaseClock,
    resolveName: seams.resolveName ?? createResolver(),
    resources: stops.resources,
  });
}

/** Where private keys are: only who can open a secret can seal it anew. */
function startResealingJob({ config, logger }: Start, db: Database): Resealing {
  return startResealing({
    db,
    logger,
    privateKeys: config.WEBHOOK_SEALING_PRIVATE_KEYS ?? '',
    startDelayMs: config.WEBHOOK_RESEALING_DELAY_MS,
  });
}

function openRedis(
  config: DispatcherConfig,
  hints: { logger: Logger; onHint: Sender['wake'] | null },
): WakeUp | null {
  const url = config.REDIS_URL;
  return url === undefined ? null : createRedisWakeUp({ url, ...hints });
}

function needsMessaging(config: DispatcherConfig): boolean {
  return config.ROLES.includes('intake') || config.ROLES.includes('api');
}

async function listen(parts: {
  config: DispatcherConfig;
  db: Database;
  logger: Logger;
  clock: ScheduleClock;
  wakeSenders(laneIds: readonly string[]): void;
  messaging: Messaging;
}): Promise<FastifyInstance | null> {
  const { config, db, logger, clock, wakeSenders, messaging } = parts;
  if (!config.ROLES.includes('api')) return null;
  const verifyToken = createTokenVerifier(NAME, config.SERVICE_TOKEN_PUBLIC_KEYS);
  const app = buildApp({
    db,
    logger,
    clock,
    wakeSenders,
    verifyToken,
    deadLetters: messaging.deadLetters,
    sealingPublicKey: config.WEBHOOK_SEALING_PUBLIC_KEY ?? '',
  });
  await app.listen({ host: config.HOST, port: config.PORT ?? 0 });
  return app;
}

function portOf(app: FastifyInstance): number {
  return (app.server.address() as AddressInfo).port;
}
