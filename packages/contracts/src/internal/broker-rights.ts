import { type Topic, TOPICS } from '../topics.ts';
import { CONSUMER_GROUPS } from './consumer-groups.ts';
import { type IdentityName, ServiceName } from './identities.ts';

/** What a principal may do at the broker; everything else is refused. */
export type BrokerRights = {
  writes: readonly Topic[];
  reads: readonly Topic[];
  groups: readonly string[];
  /**
   * Sees the offsets of every topic and group, and no message: so that a group is measured also where no process of it
   * lives.
   */
  measures: boolean;
};

/** Groups of `tools`, behind the prefix of the installation: each reading of a topic by hand has one of its own. */
export const TOOLS_GROUP_PREFIX = 'topics-tail-';

/** The service that measures all groups for the installation. */
const MEASURING: ServiceName = 'gateway';

const WRITES: Readonly<Record<ServiceName, readonly Topic[]>> = {
  gateway: [TOPICS.acquirerCallbacks, TOPICS.accountsEvents],
  charges: [TOPICS.chargesEvents, TOPICS.ledgerCommands],
  payouts: [TOPICS.payoutsEvents, TOPICS.ledgerCommands],
  ledger: [TOPICS.ledgerEvents],
  'webhook-dispatcher': [],
};

/**
 * The rights of each service at the broker (decision 256). The deploy job makes the ACLs from it, ARCHITECTURE.md shows
 * it, and the tests try every cell of it.
 */
export const BROKER_RIGHTS = Object.fromEntries(
  ServiceName.options.map((service) => [service, rightsOf(service)]),
) as Readonly<Record<ServiceName, BrokerRights>>;

function rightsOf(service: ServiceName): BrokerRights {
  const groups = Object.values(CONSUMER_GROUPS).filter((group) => group.service === service);
  return {
    writes: WRITES[service],
    reads: groups.flatMap(({ topics }) => topics),
    groups: groups.map(({ groupId }) => groupId),
    measures: service === MEASURING,
  };
}

/** As Kafka's ACLs name them. */
export type AclOperation = 'read' | 'write' | 'describe' | 'describe_configs';

/** One permission of one principal: on the resource of this name, or on all whose names begin with it. */
export type BrokerAcl = {
  principal: `User:${IdentityName}`;
  operation: AclOperation;
  resource: 'topic' | 'group';
  name: string;
  match: 'literal' | 'prefixed';
};

/**
 * The ACLs of an installation, whose topics and groups all begin with `prefix`. `tools` is for laptops and tests, never
 * for production. The deploy job is not among them: it makes topics and ACLs, as a super user of the broker.
 */
export function brokerAcls({ prefix, tools }: { prefix: string; tools: boolean }): BrokerAcl[] {
  const services = ServiceName.options.flatMap((service) => serviceAcls(service, prefix));
  return tools ? [...services, ...toolsAcls(prefix)] : services;
}

/**
 * The names on which an installation gives rights. Its deploy job takes rights away on these alone, since the same
 * principals may have others in another installation of the same cluster: a name that is given up has to stay here.
 */
export function brokerNames(prefix: string): string[] {
  const groups = Object.values(CONSUMER_GROUPS).map(({ groupId }) => groupId);
  return [...Object.values(TOPICS), ...groups, TOOLS_GROUP_PREFIX].map((name) => prefix + name);
}

/** What the groups of `tools` begin with that read this topic. */
export function toolsGroupPrefix(topic: string): string {
  const name = Object.values(TOPICS).find((one) => topic.endsWith(one)) ?? topic;
  return topic.slice(0, topic.length - name.length) + TOOLS_GROUP_PREFIX;
}

/** To write and to read include to describe. */
function serviceAcls(service: ServiceName, prefix: string): BrokerAcl[] {
  const { writes, reads, groups, measures } = BROKER_RIGHTS[service];
  const acl = (resource: BrokerAcl['resource'], operation: AclOperation) => (name: string) =>
    literal(service, resource, { operation, name: prefix + name });
  return [
    ...writes.map(acl('topic', 'write')),
    ...reads.map(acl('topic', 'read')),
    ...groups.map(acl('group', 'read')),
    ...(measures ? measuringAcls(acl) : []),
  ];
}

/** What it may write or read besides includes to describe; both stand for themselves. */
function measuringAcls(
  acl: (resource: BrokerAcl['resource'], operation: AclOperation) => (name: string) => BrokerAcl,
): BrokerAcl[] {
  const groups = Object.values(CONSUMER_GROUPS).map(({ groupId }) => groupId);
  return [
    ...Object.values(TOPICS).map(acl('topic', 'describe')),
    ...groups.map(acl('group', 'describe')),
  ];
}

/** Reads and writes every topic, in groups of its own, and sees how far the others have come. */
function toolsAcls(prefix: string): BrokerAcl[] {
  const operations = ['read', 'write', 'describe_configs'] as const;
  const topics = Object.values(TOPICS).flatMap((topic) =>
    operations.map((operation) => literal('tools', 'topic', { operation, name: prefix + topic })),
  );
  const groups = Object.values(CONSUMER_GROUPS).map(({ groupId }) =>
    literal('tools', 'group', { operation: 'describe', name: prefix + groupId }),
  );
  const own: BrokerAcl = {
    principal: 'User:tools',
    operation: 'read',
    resource: 'group',
    name: prefix + TOOLS_GROUP_PREFIX,
    match: 'prefixed',
  };
  return [...topics, ...groups, own];
}

function literal(
  identity: IdentityName,
  resource: BrokerAcl['resource'],
  { operation, name }: { operation: AclOperation; name: string },
): BrokerAcl {
  return { principal: `User:${identity}`, operation, resource, name, match: 'literal' };
}
