import { randomBytes } from 'node:crypto';

import {
  type BrokerAcl,
  brokerAcls,
  brokerNames,
  TOOLS_GROUP_PREFIX,
} from '@pixmesh/contracts/internal/broker-rights';
import { IdentityName } from '@pixmesh/contracts/internal/identities';
import { TOPICS } from '@pixmesh/contracts/topics';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { testBroker } from '@pixmesh/testkit/test-infra';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { expect, test } from 'vitest';

import { addAcls, syncAcls } from './acls.ts';
import { createEventPublisher } from './event-publisher.ts';
import { startTestMesh } from './testing/test-mesh.ts';
import { aWireMessage, TEST_MESSAGE } from './testing/test-message.ts';

const PATIENCE_MS = 30_000;
const deploy = () => ({
  ...testBroker('deploy'),
  clientId: 'test',
  logger: createLogger('test', 'silent'),
});

test('the rights become those of the list: what is missing is added, what is beyond it goes, what is of others stays', async () => {
  const prefix = aPrefix();
  const names = ['a', 'b', 'former'].map((name) => prefix + name);
  const [a, b, former] = names.map((name) => aRight('User:charges', name));
  const foreign = aRight('User:payouts', `${prefix}a`);
  const outside = aRight('User:charges', `${prefix}a-of-another`);
  await addAcls(deploy(), [a!, former!, foreign, outside]);
  const options = { ...deploy(), names, principals: ['User:charges'] };
  // A broker shows a right some time after it has accepted it.
  const settled = (acls: readonly BrokerAcl[]) =>
    eventually(async () => expect(await syncAcls(options, acls)).toEqual({ added: 0, deleted: 0 }));
  await settled([a!, former!]);
  expect(await syncAcls(options, [a!, b!])).toEqual({ added: 1, deleted: 1 });
  await settled([a!, b!]);
  expect(await syncAcls({ ...options, principals: ['User:payouts'] }, [])).toMatchObject({
    deleted: 1,
  });
  expect(await syncAcls({ ...options, names: [outside.name] }, [])).toMatchObject({ deleted: 1 });
});

test('a deploy job without a prefix leaves the rights of another installation of the cluster', async () => {
  const other = aPrefix();
  await settle(other, { tools: false });
  await settle('', { tools: true });
  expect(await sync(other, { tools: false })).toEqual({ added: 0, deleted: 0 });
});

test('a deploy job in production takes all that tools has had in this installation, its groups too', async () => {
  const prefix = aPrefix();
  await settle(prefix, { tools: true });
  const ofTools = brokerAcls({ prefix, tools: true }).filter(isOfTools);
  expect(ofTools.map(({ name }) => name)).toContain(`${prefix}${TOOLS_GROUP_PREFIX}`);
  expect(await sync(prefix, { tools: false })).toEqual({ added: 0, deleted: ofTools.length });
});

test('a consumer without its rights says so, parks nothing, and goes on when it has them', async () => {
  await using mesh = await startTestMesh();
  const logger = createLogger('test', 'silent');
  const errors: unknown[] = [];
  logger.error = (_fields: unknown, message?: unknown) => void errors.push(message);
  const handled: number[] = [];
  await mesh.sendNumbered(1, 2);
  // The gateway consumes nothing, as the table has it.
  const { parked, groupId, consumer } = mesh.consume(async (one) => void handled.push(one), {
    ...testBroker('gateway'),
    logger,
  });
  const refusal = 'consumer refused by the broker, waiting for its rights';
  await eventually(() => expect(errors).toContain(refusal), PATIENCE_MS);
  const topic = aRight('User:gateway', mesh.topicPrefix + TOPICS.ledgerEvents);
  const group: BrokerAcl = { ...topic, resource: 'group', name: mesh.topicPrefix + groupId };
  // The topic alone leads to the next refusal, that of the group.
  await addAcls(deploy(), [topic]);
  errors.length = 0;
  await eventually(() => expect(errors).toContain(refusal), PATIENCE_MS);
  expect(consumer.isAlive()).toBe(true);
  await addAcls(deploy(), [group]);
  await eventually(() => expect(handled).toEqual([1, 2]), PATIENCE_MS);
  expect(parked).toEqual([]);
});

test.each([
  ['its topic may not be written', 'charges'],
  ['no topic may be written', 'webhook-dispatcher'],
] as const)('where %s, an event stays, and goes when it may', async (_which, name) => {
  await using mesh = await startTestMesh();
  const { topicPrefix } = await createTestTopics();
  const { topic, type } = TEST_MESSAGE;
  const message = aWireMessage(1);
  const event = { eventId: message.event_id, topic, key: 'k', type, message, traceparent: null };
  const client = { ...mesh.options, ...testBroker(name), codec: mesh.codec, topicPrefix };
  await using publisher = createEventPublisher(client);
  const right = { ...aRight(`User:${name}`, topicPrefix + topic), operation: 'write' } as const;
  // The second one begins with a new connection, and has nothing to send by it.
  for (const _try of [1, 2]) {
    const { invalid, postponed } = await publisher.publish([event]);
    expect(invalid.size).toBe(0);
    expect([...postponed]).toEqual([message.event_id]);
  }
  await addAcls(deploy(), [right]);
  await eventually(async () => {
    expect((await publisher.publish([event])).postponed.size).toBe(0);
  }, PATIENCE_MS);
});

function aPrefix(): string {
  return `test-${randomBytes(6).toString('hex')}.`;
}

/** As the deploy job of an installation does it. */
async function sync(prefix: string, { tools }: { tools: boolean }) {
  const principals = IdentityName.options.map((name) => `User:${name}`);
  const options = { ...deploy(), names: brokerNames(prefix), principals };
  return await syncAcls(options, brokerAcls({ prefix, tools }));
}

/** Until the broker shows what it was given. */
async function settle(prefix: string, rights: { tools: boolean }): Promise<void> {
  await eventually(async () =>
    expect(await sync(prefix, rights)).toEqual({ added: 0, deleted: 0 }),
  );
}

function isOfTools({ principal }: BrokerAcl): boolean {
  return principal === 'User:tools';
}

function aRight(principal: BrokerAcl['principal'], name: string): BrokerAcl {
  return { principal, operation: 'read', resource: 'topic', name, match: 'literal' };
}
