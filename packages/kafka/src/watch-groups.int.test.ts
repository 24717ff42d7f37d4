import { brokerAcls } from '@pixmesh/contracts/internal/broker-rights';
import { type Topic, TOPICS } from '@pixmesh/contracts/topics';
import { newId } from '@pixmesh/kernel/ids';
import { startBrokerProxy } from '@pixmesh/testkit/broker-proxy';
import { eventually } from '@pixmesh/testkit/eventually';
import { testBroker } from '@pixmesh/testkit/test-infra';
import { Partitioners } from 'kafkajs';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { addAcls } from './acls.ts';
import { createKafka, withAdmin } from './kafka-client.ts';
import { startTestMesh, type TestMesh } from './testing/test-mesh.ts';
import { watchGroups } from './watch-groups.ts';

const { ledgerEvents: TOPIC, ledgerCommands: OTHER } = TOPICS;
/** An answer is kept for ten seconds. */
const NEXT_ANSWER_MS = 30_000;

let mesh: TestMesh;
beforeAll(async () => {
  mesh = await startTestMesh();
});
afterAll(() => mesh[Symbol.asyncDispose]());

type Watched = Pick<TestMesh, 'options' | 'topicPrefix'>;

function watch(own: Watched, groupIds: readonly string[], topics: readonly Topic[] = [TOPIC]) {
  const groups = groupIds.map((groupId) => ({ groupId, topics }));
  return watchGroups({ ...own.options, topicPrefix: own.topicPrefix, groups });
}

/** With a new watch each time, since an answer is kept; a topic that was just made may have no leader yet. */
async function readLags(own: Watched, groupIds: readonly string[], topics?: readonly Topic[]) {
  return await eventually(async () => {
    await using watched = watch(own, groupIds, topics);
    const lags = await watched.read();
    expect(lags).not.toBeNull();
    return lags ?? [];
  }, NEXT_ANSWER_MS);
}

/** With a topic whose messages have the producer's time, so that one can be old. */
async function startOldMesh() {
  const own = await startTestMesh();
  const topicPrefix = `${own.topicPrefix}old.`;
  const topic = topicPrefix + TOPIC;
  const configEntries = [{ name: 'message.timestamp.type', value: 'CreateTime' }];
  const deploy = { ...own.options, ...testBroker('deploy') };
  await addAcls(deploy, brokerAcls({ prefix: topicPrefix, tools: false }));
  await withAdmin(createKafka(deploy), async (admin) => {
    const topics = [{ topic, numPartitions: 2, configEntries }];
    await admin.createTopics({ topics, waitForLeaders: false });
    await eventually(() => admin.fetchTopicMetadata({ topics: [topic] }));
  });
  return { ...own, topicPrefix };
}

/** As if they had been sent so long ago; only `startOldMesh` has such a topic. */
async function sendOld(topicPrefix: string, ...agesSeconds: readonly number[]): Promise<void> {
  const createPartitioner = Partitioners.DefaultPartitioner;
  const producer = createKafka(mesh.options).producer({ createPartitioner });
  await producer.connect();
  for (const age of agesSeconds) {
    const timestamp = String(Date.now() - age * 1000);
    const messages = [{ key: 'key', value: Buffer.from('x'), partition: 0, timestamp }];
    await producer.send({ topic: topicPrefix + TOPIC, messages });
  }
  await producer.disconnect();
}

test('a group is measured before a process of it lives, while it does, and after the last has ended', async () => {
  const groupId = newId();
  const unread = (messages: number) =>
    eventually(async () => {
      expect(await readLags(mesh, [groupId])).toMatchObject([
        { group: groupId, topic: TOPIC, messages },
      ]);
    }, NEXT_ANSWER_MS);
  await mesh.sendNumbered(1, 2, 3);
  await unread(3);
  const { consumer } = mesh.consume(async () => undefined, { groupId });
  await unread(0);
  await consumer.stop();
  await mesh.sendNumbered(4, 5);
  await unread(2);
});

test('each group and topic has a figure of its own, and a topic without messages has none unread', async () => {
  const [one, two] = [newId(), newId()];
  const lags = await readLags(mesh, [one, two], [TOPIC, OTHER]);
  expect(lags.map(({ group, topic }) => [group, topic])).toEqual([
    [one, TOPIC],
    [one, OTHER],
    [two, TOPIC],
    [two, OTHER],
  ]);
  expect(lags.filter(({ topic }) => topic === OTHER)).toEqual([
    { group: one, topic: OTHER, messages: 0, ageSeconds: 0 },
    { group: two, topic: OTHER, messages: 0, ageSeconds: 0 },
  ]);
});

test.each([
  { sent: [], messages: 0, ageSeconds: 0 },
  { sent: [0], messages: 1, ageSeconds: 0 },
  { sent: [100, 1], messages: 2, ageSeconds: 90 },
  { sent: [7_000, 100, 1], messages: 3, ageSeconds: 3_600 },
])(
  'of messages that are $sent seconds old the age is $ageSeconds: the largest step that the oldest has passed',
  async ({ sent, messages, ageSeconds }) => {
    await using own = await startOldMesh();
    await sendOld(own.topicPrefix, ...sent);
    expect(await readLags(own, [newId()])).toMatchObject([{ messages, ageSeconds }]);
  },
);

test('what has been handled does not count for the age', async () => {
  await using own = await startOldMesh();
  const { topicPrefix } = own;
  const groupId = newId();
  await sendOld(topicPrefix, 7_000);
  const { consumer, parked } = own.consume(async () => undefined, { groupId, topicPrefix });
  await eventually(() => expect(parked).toHaveLength(1), NEXT_ANSWER_MS);
  await consumer.stop();
  await sendOld(topicPrefix, 100);
  expect(await readLags(own, [groupId])).toMatchObject([{ messages: 1, ageSeconds: 90 }]);
});

test('the right to describe is enough: the gateway, which may read no message of a group, sees how far it is', async () => {
  await using own = await startOldMesh();
  const { topicPrefix } = own;
  await sendOld(topicPrefix, 100);
  const gateway = { topicPrefix, options: { ...own.options, ...testBroker('gateway') } };
  expect(await readLags(gateway, ['charges.ledger-events'])).toMatchObject([
    { messages: 1, ageSeconds: 90 },
  ]);
});

test('readers within some seconds share one answer of the broker', async () => {
  const groupId = newId();
  const [{ messages } = { messages: 0 }] = await readLags(mesh, [groupId]);
  await using watched = watch(mesh, [groupId]);
  const [first, second] = await Promise.all([watched.read(), watched.read()]);
  expect(first).toMatchObject([{ messages }]);
  expect(second).toBe(first);
  await mesh.sendNumbered(6);
  expect(await watched.read()).toBe(first);
  expect(await readLags(mesh, [groupId])).toMatchObject([{ messages: messages + 1 }]);
});

test('a topic that is gone has no figure, and takes none from the others', async () => {
  await using own = await startTestMesh();
  const group = newId();
  await using watched = watch(own, [group], [OTHER, TOPIC]);
  const seen = (...topics: readonly Topic[]) =>
    eventually(async () => {
      expect((await watched.read())?.map(({ topic }) => topic)).toEqual(topics);
    }, NEXT_ANSWER_MS);
  await seen(OTHER, TOPIC);
  const admin = createKafka({ ...mesh.options, ...testBroker('deploy') }).admin();
  await admin.connect();
  await admin.deleteTopics({ topics: [own.topicPrefix + OTHER] });
  await admin.disconnect();
  await seen(TOPIC);
  expect(await readLags(own, [group], [OTHER, TOPIC])).toMatchObject([{ group, topic: TOPIC }]);
});

test('a broker that is away is no figure, and is asked again by a new connection when it is back', async () => {
  const [broker = ''] = mesh.options.brokers;
  await using proxy = await startBrokerProxy(broker);
  const options = { ...mesh.options, brokers: [proxy.broker] };
  await using watched = watch({ options, topicPrefix: mesh.topicPrefix }, [newId()]);
  const seen = (isThere: boolean) =>
    eventually(async () => expect((await watched.read()) !== null).toBe(isThere), NEXT_ANSWER_MS);
  await seen(true);
  proxy.cut();
  await seen(false);
  proxy.mend();
  await seen(true);
});
