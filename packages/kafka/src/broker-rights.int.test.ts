import { once } from 'node:events';
import { join } from 'node:path';
import tls from 'node:tls';

import { issueIdentity, makeAuthority } from '@pixmesh/certificates/authority';
import { openMeshAuthority } from '@pixmesh/certificates/mesh-authority';
import { type IdentityTexts, readIdentity } from '@pixmesh/certificates/mesh-identity';
import {
  BROKER_RIGHTS,
  type BrokerRights,
  TOOLS_GROUP_PREFIX,
} from '@pixmesh/contracts/internal/broker-rights';
import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import { ServiceName } from '@pixmesh/contracts/internal/identities';
import { ReceivedPixCredit } from '@pixmesh/contracts/messages/ledger-command.v1';
import { MESSAGE_SAMPLES } from '@pixmesh/contracts/test/message-samples';
import { TOPICS } from '@pixmesh/contracts/topics';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { testBroker, testIdentityFolder, testInfra } from '@pixmesh/testkit/test-infra';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import type { KafkaSecurity } from './broker-access.ts';
import { createEventPublisher } from './event-publisher.ts';
import { warmCodec } from './schema-registry.ts';
import { openRawBroker, type RawBroker } from './testing/raw-broker.ts';

/** The topics of the deploy job, without a prefix: no service of the ring reads them. */
const ALL_TOPICS = Object.values(TOPICS);
const ALL_GROUPS = Object.values(CONSUMER_GROUPS).map(({ groupId }) => groupId);
const [ADDRESS = ''] = testInfra().kafkaBrokers;
const HOUR_MS = 3_600_000;
const PATIENCE_MS = 30_000;
const DONE = 'done';
/** How the broker ends a handshake. */
const ALERT = /^ERR_SSL_.*ALERT/;

const NOTHING: BrokerRights = { writes: [], reads: [], groups: [], measures: false };
const EVERYTHING: BrokerRights = {
  writes: ALL_TOPICS,
  reads: ALL_TOPICS,
  groups: [],
  measures: true,
};

/** Who has stolen a certificate, and what the table says that he may do. */
const THIEVES: readonly (readonly [string, BrokerRights])[] = [
  ...Object.entries(BROKER_RIGHTS),
  ['tools', EVERYTHING],
  ['a stranger with a certificate of the installation', NOTHING],
];

/** Before the first member of any group the broker has no coordinator. */
beforeAll(async () => {
  await using broker = await openAs('tools');
  const groupId = `${TOOLS_GROUP_PREFIX}rights`;
  await eventually(async () => {
    await broker.findGroupCoordinator({ groupId, coordinatorType: 0 });
    await joinAndLeave(broker, groupId);
  }, PATIENCE_MS);
});

describe.each(THIEVES)('with the certificate of %s', (name, rights) => {
  test('each topic is written and read, and each group joined, only where the table says so', async () => {
    await using broker = await openAs(name);
    const seen: Record<string, string> = {};
    const expected: Record<string, string> = {};
    for (const topic of ALL_TOPICS) {
      seen[`write ${topic}`] = await outcomeOf(write(broker, topic));
      expected[`write ${topic}`] = rights.writes.includes(topic) ? DONE : REFUSED.topic;
      seen[`read ${topic}`] = await outcomeOf(read(broker, topic));
      expected[`read ${topic}`] = rights.reads.includes(topic) ? DONE : REFUSED.topic;
    }
    for (const groupId of ALL_GROUPS) {
      seen[`join ${groupId}`] = await outcomeOf(joinAndLeave(broker, groupId));
      expected[`join ${groupId}`] = rights.groups.includes(groupId) ? DONE : REFUSED.group;
    }
    expect(seen).toEqual(expected);
    expect(Object.keys(seen)).toHaveLength(2 * ALL_TOPICS.length + ALL_GROUPS.length);
  });

  test('no topic is made or deleted, no message taken out, and no right given or seen', async () => {
    await using broker = await openAs(name);
    const [topic = ''] = rights.writes.length > 0 ? rights.writes : ALL_TOPICS;
    const acl = { principal: 'User:charges', host: '*', operation: 2, permissionType: 3 };
    const anyTopic = { resourceType: 2, resourceName: '*', resourcePatternType: 3 };
    const filter = { resourceType: 1, resourcePatternType: 1, operation: 1, permissionType: 1 };
    expect({
      make: await outcomeOf(broker.createTopics({ topics: [{ topic: 'a.new.topic' }] })),
      delete: await outcomeOf(broker.deleteTopics({ topics: [topic] })),
      empty: await outcomeOf(
        broker.deleteRecords({ topics: [{ topic, partitions: [{ partition: 0, offset: '0' }] }] }),
      ),
      give: await outcomeOf(broker.createAcls({ acl: [{ ...acl, ...anyTopic }] })),
      list: await outcomeOf(broker.describeAcls(filter)),
    }).toEqual({
      make: REFUSED.topic,
      delete: REFUSED.topic,
      empty: REFUSED.topic,
      give: REFUSED.cluster,
      list: REFUSED.cluster,
    });
  });
});

describe('a credit that is invented', () => {
  const writers = ServiceName.options.filter((name) =>
    BROKER_RIGHTS[name].writes.includes(TOPICS.ledgerCommands),
  );

  test('the topic of commands is written by charges and payouts alone', () => {
    expect(writers).toEqual(['charges', 'payouts']);
  });

  test.each(ServiceName.options.filter((name) => !writers.includes(name)))(
    'is not taken from %s',
    async (name) => {
      await expect(publishCredit(testBroker(name).security)).rejects.toThrow(/authori/i);
    },
  );

  test('is not taken from an anonymous producer: there is no connection', async () => {
    const { ca } = readIdentity(testIdentityFolder('tools'));
    await expect(openRawBroker(ADDRESS, { ca })).rejects.toThrow('onnect');
    await expect(openRawBroker(ADDRESS, null)).rejects.toThrow('onnect');
  });
});

test('without a certificate, with one of another authority and with one that has ended there is no handshake', async () => {
  const ours = readIdentity(testIdentityFolder('charges'));
  const now = Date.now();
  const inTime = { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + HOUR_MS) };
  const over = { notBefore: new Date(now - 2 * HOUR_MS), notAfter: new Date(now - HOUR_MS) };
  const foreign = await makeAuthority('Pixmesh mesh authority', inTime);
  const request = { name: 'charges', hosts: ['127.0.0.1'] };
  const ended = await issueIdentity(await testAuthority(), request, over);
  expect({
    ours: await handshake(ours),
    none: await handshake({ ca: ours.ca }),
    foreign: await handshake({ ca: ours.ca, ...(await issueIdentity(foreign, request, inTime)) }),
    ended: await handshake({ ca: ours.ca, ...ended }),
  }).toEqual({
    ours: 'open',
    none: expect.stringMatching(ALERT) as string,
    foreign: expect.stringMatching(ALERT) as string,
    ended: expect.stringMatching(ALERT) as string,
  });
});

const REFUSED = {
  topic: 'TOPIC_AUTHORIZATION_FAILED',
  group: 'GROUP_AUTHORIZATION_FAILED',
  cluster: 'CLUSTER_AUTHORIZATION_FAILED',
} as const;

async function openAs(name: string): Promise<RawBroker & AsyncDisposable> {
  const identity = (ServiceName.options as readonly string[]).concat('tools').includes(name)
    ? readIdentity(testIdentityFolder(name as ServiceName | 'tools'))
    : await strangersIdentity();
  const broker = await openRawBroker(ADDRESS, identity);
  return Object.assign(broker, { [Symbol.asyncDispose]: () => broker.disconnect() });
}

async function strangersIdentity(): Promise<IdentityTexts> {
  const authority = await testAuthority();
  const validity = {
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + HOUR_MS),
  };
  const certificate = await issueIdentity(authority, { name: 'stranger', hosts: [] }, validity);
  return { ca: authority.cert, ...certificate };
}

async function testAuthority() {
  return await openMeshAuthority(join(testInfra().home, 'authority'), new Date());
}

/** `done`, or what the broker answered. */
async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return DONE;
  } catch (error) {
    const { type, errors, partitions } = error as {
      type?: string;
      errors?: { type: string }[];
      partitions?: { error: { type: string } }[];
    };
    return type ?? errors?.[0]?.type ?? partitions?.[0]?.error.type ?? String(error);
  }
}

async function write(broker: RawBroker, topic: string): Promise<unknown> {
  const messages = [{ key: 'stolen', value: 'stolen', timestamp: String(Date.now()), headers: {} }];
  return await broker.produce({
    topicData: [{ topic, partitions: [{ partition: 0, messages }] }],
  });
}

async function read(broker: RawBroker, topic: string): Promise<unknown> {
  const partitions = [{ partition: 0, fetchOffset: '0', maxBytes: 1_024 }];
  return await broker.fetch({ maxWaitTime: 1, minBytes: 0, topics: [{ topic, partitions }] });
}

async function joinAndLeave(broker: RawBroker, groupId: string): Promise<void> {
  const groupProtocols = [{ name: 'any', metadata: Buffer.alloc(0) }];
  const times = { sessionTimeout: 6_000, rebalanceTimeout: 6_000 };
  const { memberId } = await broker.joinGroup({ groupId, ...times, groupProtocols });
  await broker.leaveGroup({ groupId, memberId });
}

/** As the relay of charges publishes it. */
async function publishCredit(security: KafkaSecurity): Promise<void> {
  const { schema, topic, type } = ReceivedPixCredit;
  const message = z.encode(schema, MESSAGE_SAMPLES[type] as never);
  const codec = await warmCodec(testInfra().registryUrl, [ReceivedPixCredit]);
  const logger = createLogger('test', 'silent');
  const client = { brokers: [ADDRESS], security, clientId: 'attacker', logger };
  await using publisher = createEventPublisher({ ...client, codec, topicPrefix: '' });
  await publisher.publishAll([
    { eventId: message.event_id, topic, key: 'key', type, message, traceparent: null },
  ]);
}

/** The smallest request there is: which versions does the broker speak? */
const API_VERSIONS = Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff]);

/** `open`, or the code of the alert by which the broker ended it. */
async function handshake(options: tls.ConnectionOptions): Promise<string> {
  const [host = '', port = ''] = ADDRESS.split(':');
  const socket = tls.connect({ host, port: Number(port), ...options });
  try {
    // With TLS 1.3 a client has done its part before the broker has judged its certificate.
    socket.write(API_VERSIONS);
    await once(socket, 'data');
    return 'open';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  } finally {
    socket.destroy();
  }
}
