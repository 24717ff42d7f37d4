import { createRequire } from 'node:module';
import net from 'node:net';
import tls from 'node:tls';

import type { IdentityTexts } from '@pixmesh/certificates/mesh-identity';

/** What the library asks of one broker, before its own checks: who attacks leaves those out. */
export type RawBroker = {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  produce(input: object): Promise<unknown>;
  fetch(input: object): Promise<unknown>;
  findGroupCoordinator(input: object): Promise<unknown>;
  joinGroup(input: object): Promise<{ memberId: string }>;
  leaveGroup(input: object): Promise<unknown>;
  createTopics(input: object): Promise<unknown>;
  deleteTopics(input: object): Promise<unknown>;
  deleteRecords(input: object): Promise<unknown>;
  createAcls(input: object): Promise<unknown>;
  describeAcls(input: object): Promise<unknown>;
};

type Constructor<T> = new (options: object) => T;

const require = createRequire(import.meta.url);
const Broker = require('kafkajs/src/broker/index.js') as Constructor<RawBroker>;
const ConnectionPool = require('kafkajs/src/network/connectionPool.js') as Constructor<object>;

const TIMEOUT_MS = 10_000;
const ignore = () => undefined;
const logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  namespace: () => logger,
};

/** A connection by the certificate of one identity, or plain, whose requests go out as they are. */
export async function openRawBroker(
  address: string,
  identity: Partial<IdentityTexts> | null,
): Promise<RawBroker> {
  const [host = '', port = ''] = address.split(':');
  const connectionPool = new ConnectionPool({
    host,
    port: Number(port),
    logger,
    clientId: 'raw',
    connectionTimeout: TIMEOUT_MS,
    requestTimeout: TIMEOUT_MS,
    socketFactory: ({ onConnect }: { onConnect: () => void }) =>
      identity === null
        ? net.connect(Number(port), host, onConnect)
        : tls.connect({ host, port: Number(port), ...identity }, onConnect),
  });
  const broker = new Broker({ connectionPool, logger });
  await broker.connect();
  return broker;
}
