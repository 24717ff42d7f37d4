import { startHealth } from '@pixmesh/service/health';
import { createStopList } from '@pixmesh/service/stop-in-order';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { createPool, type Database } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';

import { startCallbackSender } from '#callbacks/send-callbacks.job.ts';
import { loadClock } from '#clock/clock.ts';
import { startDueWork } from '#due-work/do-due-work.job.ts';
import { loadFaults } from '#faults/faults.ts';
import { PROFILE_DEFAULT, PROFILE_SETTING, StoredProfile } from '#profile/profile.ts';
import { startReceiver } from '#receiver/start-receiver.ts';
import { loadSetting } from '#settings/stored-setting.ts';
import { readMutualTls } from '#tls/read-mutual-tls.ts';

import { buildProviderApp, buildSimulatorApp, type SimulatorDeps } from './app.ts';
import type { AcquirerSimulatorConfig } from './config.ts';

export type AcquirerSimulator = AsyncDisposable & {
  /** Origin of the provider's API and the control API. */
  readonly url: string;
  /** Origin of the provider's API for clients with a certificate; null where it is off. */
  readonly tlsUrl: string | null;
  /** Origin of the development receiver. */
  readonly receiverUrl: string;
};

const POOL_SIZE = 20;
/** Settings have their own connections: they are written while payments hold all others. */
const SETTINGS_POOL_SIZE = 2;

const MUTUAL_TLS_OFF =
  'mutual TLS is off; for the API by HTTPS set TLS_PORT, TLS_CERT, TLS_KEY and TLS_CA (PEM, or TLS_CERT_FILE ' +
  'and so on with a path)';

/** Composition root: pools, callback sender, the two listeners, health; stopped in reverse order. */
export async function startAcquirerSimulator(
  config: AcquirerSimulatorConfig,
): Promise<AcquirerSimulator> {
  const name = 'acquirer-simulator';
  const logger = createLogger(name, config.LOG_LEVEL);
  const stops = createStopList(logger);
  const pool = { url: config.DATABASE_URL, applicationName: name };
  try {
    const db = stops.use('pool', createPool({ ...pool, max: POOL_SIZE }));
    const settings = stops.use('settings', createPool({ ...pool, max: SETTINGS_POOL_SIZE }));
    const faults = await loadFaults(settings);
    const clock = await loadClock(settings);
    const profile = await loadSetting(settings, PROFILE_SETTING, {
      schema: StoredProfile,
      initial: PROFILE_DEFAULT,
    });
    const callbacks = createWakeSignal();
    stops.use(
      'callbacks',
      await startCallbackSender({ db, logger, signal: callbacks, ...callbackDelays(config) }),
    );
    const dueWork = stops.use(
      'due work',
      startDueWork({
        db,
        logger,
        faults,
        pixKey: config.ACQUIRER_PIX_KEY,
        wakeCallbacks: callbacks.notify,
      }),
    );
    const receiver = stops.use(
      'receiver',
      await startReceiver({ db, settings, logger, host: config.HOST, port: config.RECEIVER_PORT }),
    );
    const deps: SimulatorDeps = {
      db,
      logger,
      faults,
      clock,
      profile,
      wakeCallbacks: callbacks.notify,
      expectDue: dueWork.expect,
      clientId: config.ACQUIRER_CLIENT_ID,
      clientSecret: config.ACQUIRER_CLIENT_SECRET,
      pixKey: config.ACQUIRER_PIX_KEY,
      host: config.HOST,
    };
    const app = buildSimulatorApp(deps);
    stops.add('api', () => app.close());
    const url = await app.listen({ host: config.HOST, port: config.PORT });
    const tlsUrl = await listenTls(deps, config, stops);
    const health = stops.use('health', await startHealth(healthOptions(db, config)));
    stops.add('readiness', health.setNotReady);
    return { url, tlsUrl, receiverUrl: receiver.url, [Symbol.asyncDispose]: stops.stopAll };
  } catch (error) {
    await stops.stopAll();
    throw error;
  }
}

function callbackDelays(config: AcquirerSimulatorConfig) {
  return {
    timeoutMs: config.CALLBACK_TIMEOUT_MS,
    retryDelayMs: config.CALLBACK_RETRY_DELAY_MS,
    retryDelayMsMax: config.CALLBACK_RETRY_DELAY_MS_MAX,
  };
}

function healthOptions(db: Database, config: AcquirerSimulatorConfig) {
  return {
    host: config.HOST,
    port: config.INTERNAL_PORT,
    isAlive: () => true,
    checkReady: async () => void (await db.query(named('ready', sql`select 1 as ready`))),
    failpointsAllowed: false,
  };
}

/** The listener for clients with a certificate, where one is configured; answers its origin. */
async function listenTls(
  deps: SimulatorDeps,
  config: AcquirerSimulatorConfig,
  stops: ReturnType<typeof createStopList>,
): Promise<string | null> {
  const tls = readMutualTls(config);
  if (tls === null) {
    deps.logger.info(MUTUAL_TLS_OFF);
    return null;
  }
  const app = buildProviderApp(deps, tls);
  stops.add('api-tls', () => app.close());
  return await app.listen({ host: config.HOST, port: tls.port });
}
