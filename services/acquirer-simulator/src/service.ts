import { listen } from '@pixmesh/http/listen';
import { startService } from '@pixmesh/service/start-service';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { createPool } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import type { FastifyInstance } from 'fastify';

import { startCallbackSender } from '#callbacks/send-callbacks.job.ts';
import { createChargeReads } from '#charges/charges.sql.ts';
import { createNewCharges } from '#charges/new-charges.sql.ts';
import { loadClock } from '#clock/clock.ts';
import { startDueWork } from '#due-work/do-due-work.job.ts';
import { loadFaults } from '#faults/faults.ts';
import { createSharedPayments } from '#pix/payments.ts';
import { createNewSends } from '#sends/new-sends.sql.ts';
import { createSendReads } from '#sends/sends.sql.ts';
import { PROFILE_DEFAULT, PROFILE_SETTING, StoredProfile } from '#profile/profile.ts';
import { startReceiver } from '#receiver/start-receiver.ts';
import { loadSetting } from '#settings/stored-setting.ts';
import { readMutualTls } from '#tls/read-mutual-tls.ts';

import { buildProviderApp, buildSimulatorApp, type SimulatorDeps } from './app.ts';
import { type AcquirerSimulatorConfig, callbackClientTls } from './config.ts';

export type AcquirerSimulator = Awaited<ReturnType<typeof startAcquirerSimulator>>;

const POOL_SIZE = 20;
/**
 * One each for what shares statements: creations, look-ups of charges, the read and the write of payments, orders,
 * look-ups of orders, callbacks.
 */
const SHARED_POOL_SIZE = 7;
/** Settings have their own connections: they are written while orders and refunds hold all others. */
const SETTINGS_POOL_SIZE = 2;

const MUTUAL_TLS_OFF =
  'mutual TLS is off; for the API by HTTPS set TLS_PORT, TLS_CERT, TLS_KEY and TLS_CA (PEM, or TLS_CERT_FILE ' +
  'and so on with a path)';

/** Starts the simulator; a stop ends its listeners first, then what works by itself, then the pools. */
export async function startAcquirerSimulator(config: AcquirerSimulatorConfig) {
  const name = 'acquirer-simulator';
  return await startService({ name, config }, async ({ logger, use }) => {
    const pool = { url: config.DATABASE_URL, applicationName: name };
    const db = use('pool', createPool({ ...pool, max: POOL_SIZE }));
    const shared = use(
      'shared',
      createPool({ ...pool, name: 'shared', max: SHARED_POOL_SIZE, plansOnce: true }),
    );
    const settings = use('settings', createPool({ ...pool, max: SETTINGS_POOL_SIZE }));
    const faults = await loadFaults(settings);
    const clock = await loadClock(settings);
    const profile = await loadSetting(settings, PROFILE_SETTING, {
      schema: StoredProfile,
      initial: PROFILE_DEFAULT,
    });
    const { HOST: host, ACQUIRER_PIX_KEY: pixKey } = config;
    const signal = createWakeSignal();
    const clientTls = callbackClientTls(config);
    const sender = { db: shared, logger, signal, clientTls, ...callbackDelays(config) };
    use('callbacks', await startCallbackSender(sender));
    const wakeCallbacks = signal.notify;
    const dueWork = use('due work', startDueWork({ db, logger, faults, pixKey, wakeCallbacks }));
    const receiver = use(
      'receiver',
      await startReceiver({ db, settings, logger, host, port: config.RECEIVER_PORT }),
    );
    const deps: SimulatorDeps = {
      db,
      newCharges: createNewCharges(shared),
      chargeReads: createChargeReads(shared),
      newSends: createNewSends(shared),
      sendReads: createSendReads(shared),
      payments: createSharedPayments(shared),
      logger,
      faults,
      clock,
      profile,
      wakeCallbacks,
      expectDue: dueWork.expect,
      clientId: config.ACQUIRER_CLIENT_ID,
      clientSecret: config.ACQUIRER_CLIENT_SECRET,
      otherClientSecret: config.ACQUIRER_OTHER_CLIENT_SECRET,
      pixKey,
      host,
      clientTls,
    };
    const app = buildSimulatorApp(deps);
    use('api', closing(app));
    const api = await listen(app, config, config.PORT);
    const tlsApp = buildTlsApp(deps, config);
    if (tlsApp !== null) use('api-tls', closing(tlsApp.app));
    const tls = tlsApp && (await listen(tlsApp.app, config, tlsApp.port));
    return {
      /** Origin of the provider's API and the control API. */
      url: app.listeningOrigin,
      /** Origin of the provider's API for clients with a certificate; null where it is off. */
      tlsUrl: tlsApp && tlsApp.app.listeningOrigin,
      /** Origin of the development receiver. */
      receiverUrl: receiver.url,
      ports: { api, tls },
      checkReady: async () => void (await db.query(named('ready', sql`select 1 as ready`))),
    };
  });
}

/** A listener that ends at once and lets no caller finish first: it may hold answers back for as long as it lives. */
function closing(app: FastifyInstance): AsyncDisposable {
  return { [Symbol.asyncDispose]: async () => await app.close() };
}

function callbackDelays(config: AcquirerSimulatorConfig) {
  return {
    timeoutMs: config.CALLBACK_TIMEOUT_MS,
    retryDelayMs: config.CALLBACK_RETRY_DELAY_MS,
    retryDelayMsMax: config.CALLBACK_RETRY_DELAY_MS_MAX,
  };
}

/** The listener for clients with a certificate, where one is configured. */
function buildTlsApp(
  deps: SimulatorDeps,
  config: AcquirerSimulatorConfig,
): { app: FastifyInstance; port: number } | null {
  const tls = readMutualTls(config);
  if (tls === null) {
    deps.logger.info(MUTUAL_TLS_OFF);
    return null;
  }
  return { app: buildProviderApp(deps, tls), port: tls.port };
}
