import { readConfig } from '@pixmesh/service/config';
import {
  AccountLimitsChanged,
  ApplicationChanged,
} from '@pixmesh/contracts/messages/account-event.v1';
import { CHARGE_EVENTS, DISPUTE_EVENTS } from '@pixmesh/contracts/messages/charge-event.v1';
import { PAYOUT_EVENTS } from '@pixmesh/contracts/messages/payout-event.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { createEventPublisher } from '@pixmesh/kafka/event-publisher';
import type { EventToPublish } from '@pixmesh/kafka/outgoing-message';
import { warmCodec } from '@pixmesh/kafka/schema-registry';
import { newId } from '@pixmesh/kernel/ids';
import { generateSealingKeyPair } from '@pixmesh/kernel/sealed-secret';
import { createLogger } from '@pixmesh/telemetry/logger';
import { publishStubbornly } from '@pixmesh/testkit/publish-stubbornly';
import { testBroker, testIdentityFolder, testInfra } from '@pixmesh/testkit/test-infra';
import { testRedisVariables } from '@pixmesh/testkit/test-redis';

import { DispatcherConfig } from '#config.ts';
import type { ResourceEvent } from '#intake/read-event.ts';

export const sealingKeys = generateSealingKeyPair();

/** The environment of a dispatcher under test, with every port free to choose. */
export function testEnvironment(options: {
  databaseUrl: string;
  topicPrefix?: string;
  receiverPort: number;
}): NodeJS.ProcessEnv {
  const infra = testInfra();
  return {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    INTERNAL_PORT: '0',
    PORT: '0',
    DATABASE_URL: options.databaseUrl,
    MESH_TLS_DIR: testIdentityFolder('webhook-dispatcher'),
    KAFKA_BROKERS: infra.kafkaBrokers.join(','),
    KAFKA_TOPIC_PREFIX: options.topicPrefix ?? '',
    SCHEMA_REGISTRY_URL: infra.registryUrl,
    ...testRedisVariables('webhook-dispatcher'),
    WEBHOOK_SEALING_PUBLIC_KEY: sealingKeys.publicKey,
    WEBHOOK_SEALING_PRIVATE_KEYS: sealingKeys.privateKeys,
    WEBHOOK_DEV_RECEIVERS: `*.receiver.example.com=127.0.0.1:${options.receiverPort}`,
  };
}

export function testConfig(env: NodeJS.ProcessEnv): DispatcherConfig {
  return readConfig(DispatcherConfig, env);
}

export type ResourceTopics = AsyncDisposable & {
  publish(event: ResourceEvent, traceparent?: string): Promise<void>;
  /** Speaks in the place of the gateway; one request, so one after the other on the topic. */
  announce(changes: readonly (ApplicationChanged | AccountLimitsChanged)[]): Promise<void>;
};

/** Speaks in the place of charges and payouts. */
export async function openResourceTopics(topicPrefix: string): Promise<ResourceTopics> {
  const infra = testInfra();
  const publisher = createEventPublisher({
    ...testBroker(),
    clientId: 'test',
    logger: createLogger('test', 'silent'),
    codec: await warmCodec(infra.registryUrl, [
      ...Object.values(CHARGE_EVENTS),
      ...Object.values(DISPUTE_EVENTS),
      ...Object.values(PAYOUT_EVENTS),
      ApplicationChanged,
      AccountLimitsChanged,
    ]),
    topicPrefix,
  });
  return {
    publish: async (event, traceparent) => {
      const { data } = event;
      const topic = data.object === 'payment' ? TOPICS.payoutsEvents : TOPICS.chargesEvents;
      const key = data.object === 'dispute' ? data.charge_id : data.id;
      await publishStubbornly(publisher, [
        toPublish(event, { topic, key, traceparent: traceparent ?? null }),
      ]);
    },
    announce: async (changes) => {
      const topic = TOPICS.accountsEvents;
      await publishStubbornly(
        publisher,
        changes.map((change) =>
          toPublish(change, { topic, key: change.account_id, traceparent: null }),
        ),
      );
    },
    [Symbol.asyncDispose]: () => publisher[Symbol.asyncDispose](),
  };
}

function toPublish(
  message: ResourceEvent | ApplicationChanged | AccountLimitsChanged,
  place: Pick<EventToPublish, 'topic' | 'key' | 'traceparent'>,
): EventToPublish {
  // A redelivered message carries the same event; the outbox id of the test does not matter.
  return { ...place, eventId: newId(), type: message.type, message };
}
