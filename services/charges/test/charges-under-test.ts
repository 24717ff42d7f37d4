import { ChargesConfig } from '#config.ts';
import { startCharges } from '#service.ts';
import { AcquirerCallback } from '@pixmesh/contracts/messages/acquirer-callback.v1';
import { LEDGER_EVENTS } from '@pixmesh/contracts/messages/ledger-event.v1';
import type { TenantClaims } from '@pixmesh/contracts/internal/caller-claims';
import { callOwner } from '@pixmesh/testkit/mesh-calls';
import { createEventPublisher } from '@pixmesh/kafka/event-publisher';
import { warmCodec } from '@pixmesh/kafka/schema-registry';
import { newId } from '@pixmesh/kernel/ids';
import { generateSealingKeyPair } from '@pixmesh/kernel/sealed-secret';
import { type OutboundEvent, outboundEvent } from '@pixmesh/postgres/events';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { publishStubbornly } from '@pixmesh/testkit/publish-stubbornly';
import { SIMULATOR_CREDENTIALS, startSimulatorProcess } from '@pixmesh/testkit/simulator-process';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { testBroker, testIdentityFolder, testInfra } from '@pixmesh/testkit/test-infra';
import { createTestTopics } from '@pixmesh/testkit/test-topics';

export type ChargesUnderTest = Awaited<ReturnType<typeof startChargesUnderTest>>;

// Answers are compared as they come; a wrong shape shows in an assertion.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

/** Starts what the service needs beside the acquirer; answers the settings by which it is found. */
type StartBeside = (shared: { topicPrefix: string }) => Promise<Record<string, string>>;

/** The service on real infrastructure, beside a real simulator; short periods. */
export async function startChargesUnderTest(
  settings: Record<string, string> = {},
  startBeside: StartBeside = () => Promise.resolve({}),
) {
  const [database, topics, simulator] = await Promise.all([
    createTestDatabase('charges'),
    createTestTopics(),
    startSimulatorProcess(),
  ]);
  // Reconciliation runs where a test asks for it; by itself it would meet the faults that tests script.
  await database.db.query(sql`update reconciliation_lease set due_at = 'infinity'`);
  const sealing = generateSealingKeyPair();
  const beside = await startBeside(topics);
  const service = await startCharges(
    ChargesConfig.parse({
      ...BASE_SETTINGS,
      ...settings,
      ...beside,
      DATABASE_URL: database.url,
      MESH_TLS_DIR: testIdentityFolder('charges'),
      KAFKA_BROKERS: testInfra().kafkaBrokers.join(','),
      KAFKA_TOPIC_PREFIX: topics.topicPrefix,
      SCHEMA_REGISTRY_URL: testInfra().registryUrl,
      ACQUIRER_URL: simulator.url,
      WEBHOOK_SEALING_PUBLIC_KEY: sealing.publicKey,
    }),
  );
  const peers = await startPeers(topics.topicPrefix);
  return {
    ...topics,
    ...peers,
    db: database.db,
    adminUrl: database.adminUrl,
    simulator,
    sealing,
    request: (
      caller: TenantClaims | null,
      route: string,
      ...[body, headers]: [body?: unknown, headers?: Record<string, string>]
    ) => callService(service.url, { caller, route, body, headers }),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      await peers.stop();
      await simulator[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

async function callService(url: string, call: Parameters<typeof callOwner>[1]) {
  const response = await callOwner({ owner: 'charges', url }, call);
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as Json };
}

/** What gateway and ledger send to the service, by the messages that are their contract. */
async function startPeers(topicPrefix: string) {
  const { registryUrl } = testInfra();
  const publisher = createEventPublisher({
    ...testBroker(),
    clientId: 'test',
    logger: createLogger('test', 'silent'),
    topicPrefix,
    codec: await warmCodec(registryUrl, [AcquirerCallback, ...Object.values(LEDGER_EVENTS)]),
  });
  const publish = (event: OutboundEvent) =>
    publishStubbornly(publisher, [{ ...event, traceparent: null }]);
  return {
    publish,
    announce: (chargeId: string) => publish(aCallback({ txid: chargeId.replaceAll('-', '') })),
    /** One item of a callback, whatever is in it. */
    announceItem: (item: object) => publish(aCallback(item)),
    stop: () => publisher[Symbol.asyncDispose](),
  };
}

/** The acquirer's callback about a charge, as the gateway passes it on. */
function aCallback(item: object): OutboundEvent {
  const place = { key: newId(), sequence: null, headers: { kind: 'received' } };
  return outboundEvent(AcquirerCallback, place, {
    event_id: newId(),
    type: 'acquirer.callback',
    version: 1,
    occurred_at: new Date().toISOString(),
    account_id: null,
    application_id: null,
    data: { kind: 'received', item: item as Record<string, string> },
  });
}

export const RECEIVER = {
  name: 'Loja Ltda',
  document: '11222333000181',
  pix_key: SIMULATOR_CREDENTIALS.pixKey,
  pix_key_type: 'random',
  institution_name: null,
  institution_ispb: '12345678',
  branch: null,
  account: null,
  account_type: 'payment',
} as const;

const BASE_SETTINGS = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  INTERNAL_PORT: '0',
  PORT: '0',
  LEDGER_URL: 'https://127.0.0.1:9',
  DISPATCHER_URL: 'https://127.0.0.1:9',
  ACQUIRER_CLIENT_ID: SIMULATOR_CREDENTIALS.clientId,
  ACQUIRER_CLIENT_SECRET: SIMULATOR_CREDENTIALS.clientSecret,
  ACQUIRER_PIX_KEY: SIMULATOR_CREDENTIALS.pixKey,
  ACQUIRER_TIMEOUT_MS: '1000',
  ACQUIRER_RECEIVER: JSON.stringify(RECEIVER),
  READ_BACK_PROCESSING_MS: '100',
  READ_BACK_PROCESSING_MS_MAX: '200',
  READ_BACK_PENDING_MS: '60000',
  // Read once at boot, when nothing was received yet; a test that is about the list shortens it.
  RECEIVED_LIST_MS: '3600000',
  RECEIVED_LIST_LATE_MS: '3600000',
};
