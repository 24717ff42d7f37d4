import { randomBytes } from 'node:crypto';

import { TOPICS } from '@pixmesh/contracts/topics';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { testBroker, TEST_TOPIC_PREFIX } from '@pixmesh/testkit/test-infra';
import { type Admin, type ConfigSource, Partitioners } from 'kafkajs';
import { expect, test } from 'vitest';

import { createKafka, withAdmin } from './kafka-client.ts';
import { TOPIC_CONFIG } from './topic-states.ts';
import { createTopics } from './topics.ts';

const HOUR_MS = 3_600_000;
const SET_ON_TOPIC: ConfigSource.TOPIC_CONFIG = 1;
const OF_OPERATOR = { 'retention.ms': String(HOUR_MS), 'max.message.bytes': '2000000' };

test('a new topic takes a message whose producer is two hours ahead, at the time of the broker', async () => {
  const { topicPrefix, create } = anInstallation();
  await create();
  await expectBrokerTime(topicPrefix + TOPICS.ledgerEvents);
});

test('a topic of before takes it too, and keeps what an operator has set', async () => {
  const { topicPrefix, create } = anInstallation();
  const topic = topicPrefix + TOPICS.ledgerEvents;
  const configEntries = Object.entries(OF_OPERATOR).map(([name, value]) => ({ name, value }));
  await asDeployJob((admin) =>
    admin.createTopics({ topics: [{ topic, configEntries }], waitForLeaders: false }),
  );
  await create();
  await expectBrokerTime(topic);
  const settings = { ...OF_OPERATOR, 'message.timestamp.type': 'LogAppendTime' };
  expect(await readSettings(topic)).toEqual(settings);
  await create();
  expect(await readSettings(topic)).toEqual(settings);
});

function anInstallation() {
  const topicPrefix = `${TEST_TOPIC_PREFIX}${randomBytes(6).toString('hex')}.`;
  const create = () =>
    createTopics({
      ...deploy(),
      topicPrefix,
      partitions: 1,
      replicationFactor: 1,
      minInsyncReplicas: 1,
    });
  return { topicPrefix, create };
}

/** A broker goes by an altered setting some time after it has accepted it. */
async function expectBrokerTime(topic: string): Promise<void> {
  const producer = createKafka(deploy()).producer({
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  const timestamp = String(Date.now() + 2 * HOUR_MS);
  const messages = [{ key: 'key', value: Buffer.from('x'), timestamp }];
  const [sent] = await eventually(() => producer.send({ topic, messages }));
  await producer.disconnect();
  const aheadMs = Number(sent?.logAppendTime) - Date.now();
  expect(Math.abs(aheadMs)).toBeLessThan(HOUR_MS);
}

/** Those of the topic itself. */
async function readSettings(topic: string): Promise<Record<string, string>> {
  const { resources } = await asDeployJob((admin) =>
    admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: TOPIC_CONFIG, name: topic }],
    }),
  );
  const settings = resources.flatMap(({ configEntries }) =>
    configEntries.filter(({ configSource }) => configSource === SET_ON_TOPIC),
  );
  return Object.fromEntries(
    settings.map(({ configName, configValue }) => [configName, configValue]),
  );
}

function asDeployJob<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
  return withAdmin(createKafka(deploy()), work);
}

function deploy() {
  return { ...testBroker('deploy'), clientId: 'test', logger: createLogger('test', 'silent') };
}
