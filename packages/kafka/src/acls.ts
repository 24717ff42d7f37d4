import type { BrokerAcl } from '@pixmesh/contracts/internal/broker-rights';
import type { AclEntry, Admin } from 'kafkajs';

import { createKafka, type KafkaOptions, withAdmin } from './kafka-client.ts';

/** The protocol's numbers; the library's names are not exported to ES modules. */
const ANY = 1;
const ALLOW = 3;
const RESOURCES = { topic: 2, group: 3 } as const;
const PATTERNS = { literal: 3, prefixed: 4 } as const;
const OPERATIONS = { read: 3, write: 4, describe: 8, describe_configs: 10 } as const;
const ANY_HOST = '*';

/** What was changed, for the log. */
export type AclChanges = { added: number; deleted: number };

/**
 * Makes the broker's permissions those of the list: adds what is missing, and deletes what these principals have beyond
 * it on topics and groups of these names. Others' permissions, those on other names and patterns, and whatever is
 * denied are left alone.
 */
export async function syncAcls(
  options: KafkaOptions & { names: readonly string[]; principals: readonly string[] },
  acls: readonly BrokerAcl[],
): Promise<AclChanges> {
  return await withAdmin(createKafka(options), async (admin) => {
    const wanted = new Map(acls.map(toEntry).map((entry) => [nameOf(entry), entry]));
    const present = (await readAllowed(admin)).filter(
      ({ principal, resourceName }) =>
        options.principals.includes(principal) && options.names.includes(resourceName),
    );
    const known = new Set(present.map(nameOf));
    const missing = [...wanted].filter(([name]) => !known.has(name)).map(([, entry]) => entry);
    const surplus = present.filter((entry) => !wanted.has(nameOf(entry)));
    if (missing.length > 0) await admin.createAcls({ acl: missing });
    if (surplus.length > 0) await admin.deleteAcls({ filters: surplus });
    return { added: missing.length, deleted: surplus.length };
  });
}

/** Adds permissions without a look at those that exist. */
export async function addAcls(options: KafkaOptions, acls: readonly BrokerAcl[]): Promise<void> {
  await withAdmin(createKafka(options), (admin) => admin.createAcls({ acl: acls.map(toEntry) }));
}

async function readAllowed(admin: Admin): Promise<AclEntry[]> {
  const { resources } = await admin.describeAcls({
    resourceType: ANY,
    resourcePatternType: ANY,
    operation: ANY,
    permissionType: ALLOW,
  });
  return resources.flatMap(({ acls, ...resource }) => acls.map((acl) => ({ ...resource, ...acl })));
}

function toEntry({ principal, operation, resource, name, match }: BrokerAcl): AclEntry {
  return {
    principal,
    host: ANY_HOST,
    operation: OPERATIONS[operation],
    permissionType: ALLOW,
    resourceType: RESOURCES[resource],
    resourceName: name,
    resourcePatternType: PATTERNS[match],
  };
}

function nameOf(entry: AclEntry): string {
  const { principal, host, operation, resourceType, resourceName, resourcePatternType } = entry;
  return [principal, host, operation, resourceType, resourcePatternType, resourceName].join(' ');
}
