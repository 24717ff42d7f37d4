import net from 'node:net';
import { addAbortSignal } from 'node:stream';
import tls from 'node:tls';

import type { Logger } from '@pixmesh/telemetry/logger';
import { type Admin, type AdminConfig, Kafka, logLevel } from 'kafkajs';
import { pino } from 'pino';

import type { BrokerAccess, KafkaSecurity } from './broker-access.ts';
import { dropEmptyPartitions } from './filled-partitions.ts';
import { restIdleConnections } from './idle-connections.ts';
import { keepHeartbeatsSteady } from './steady-heartbeats.ts';

const CONNECTION_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 4_000;

/** kafkajs changes its own defaults when `NODE_ENV` is `test`, so every client states its retries. */
export const CLIENT_RETRY = {
  initialRetryTime: 100,
  maxRetryTime: 1_000,
  factor: 0.2,
  multiplier: 2,
  retries: 8,
};

/** For what the relay sends: it tries for ever, one publication does not. */
export const PUBLISH_RETRY = { initialRetryTime: 100, maxRetryTime: 500, retries: 1 };

export type KafkaOptions = BrokerAccess & {
  clientId: string;
  logger: Logger;
  /**
   * Ends every connection of the client, and lets none begin. The library by itself ends what is under way, and tries
   * again.
   */
  signal?: AbortSignal;
};

dropEmptyPartitions();
restIdleConnections();
keepHeartbeatsSteady();

/** The one way to a broker: Nagle off, explicit timeouts, and the library's noise kept out of our log. */
export function createKafka(options: KafkaOptions, requestTimeout = REQUEST_TIMEOUT_MS): Kafka {
  const { security, signal } = options;
  return new Kafka({
    brokers: [...options.brokers],
    clientId: options.clientId,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout,
    enforceRequestTimeout: true,
    retry: CLIENT_RETRY,
    logLevel: logLevel.ERROR,
    logCreator: () => (entry) => {
      options.logger.debug({ kafka: entry.namespace }, entry.log.message);
    },
    ...(security.sasl === undefined ? {} : { sasl: security.sasl }),
    socketFactory: ({ host, port, onConnect }) => {
      const secrets = secretsOf(security);
      const socket = secrets
        ? tls.connect({ host, port, servername: net.isIP(host) ? '' : host, ...secrets }, onConnect)
        : net.connect({ host, port }, onConnect);
      socket.setKeepAlive(true, 60_000);
      if (signal !== undefined) addAbortSignal(signal, socket);
      return socket.setNoDelay(true);
    },
  });
}

/** For people's tools: what they are told is what they print. */
export function createToolKafka(access: BrokerAccess, clientId: string): Kafka {
  const { brokers, security } = access;
  return createKafka({ brokers, security, clientId, logger: pino({ level: 'silent' }) });
}

/** Over a connection of its own. */
export async function withAdmin<T>(
  kafka: Kafka,
  work: (admin: Admin) => Promise<T>,
  options?: AdminConfig,
): Promise<T> {
  const admin = kafka.admin(options);
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Of one connection; null where it is plain. */
function secretsOf(security: KafkaSecurity): tls.ConnectionOptions | null {
  if (security.kind === 'mtls') return security.identity.current();
  if (security.kind === 'plaintext') return null;
  return security.ca === undefined ? {} : { ca: security.ca };
}
