import assert from 'node:assert';

import { MESSAGE_TYPES } from '@pixmesh/contracts/messages/message-types';
import { EnvironmentConfig, readConfig } from '@pixmesh/service/config';
import { brokerAcls, brokerNames } from '@pixmesh/contracts/internal/broker-rights';
import { ServiceName } from '@pixmesh/contracts/internal/identities';
import { syncAcls } from '@pixmesh/kafka/acls';
import type { BrokerAccess } from '@pixmesh/kafka/broker-access';
import { warnOfPlaintext } from '@pixmesh/service/warn-of-plaintext';
import { registerSchemas } from '@pixmesh/kafka/schema-registry';
import { createTopics } from '@pixmesh/kafka/topics';
import { type MessageSchema, storeMessageSchemas } from '@pixmesh/postgres/message-schemas';
import { migrateSchema } from '@pixmesh/postgres/migrate';
import { createPool } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { z } from 'zod';

import { deployBroker, DeployBrokerConfig } from './deploy-broker.ts';
import {
  checkPasswords,
  PASSWORD_FIELDS,
  passwordSetting,
  schemasOfInstallation,
} from './schemas-of-services.ts';

export const DeployConfig = z
  .object({
    ...EnvironmentConfig,
    ...DeployBrokerConfig,
    ...PASSWORD_FIELDS,
    ADMIN_DATABASE_URL: z.url({ error: 'expected a postgres:// URL' }),
    KAFKA_REPLICATION_FACTOR: z.coerce.number().int().min(1).default(1),
    KAFKA_MIN_INSYNC_REPLICAS: z.coerce.number().int().min(1).default(1),
    /** `skip` where the rights at the broker are given by other means. */
    KAFKA_ACLS: z.enum(['write', 'skip'], { error: 'expected write or skip' }).default('write'),
  })
  .superRefine(checkPasswords);
type DeployConfig = z.output<typeof DeployConfig>;

/**
 * Migrates every schema, creates the topics with the rights of each service, registers the message schemas and stores
 * them for the services. Safe to repeat; answers what is registered.
 */
export async function prepareInstallation(
  env: NodeJS.ProcessEnv = process.env,
): Promise<MessageSchema[]> {
  const config = readConfig(DeployConfig, env);
  const logger = createLogger('deploy', 'warn');
  warnOfPlaintext(logger, config);
  const access = deployBroker(config);
  const [messageSchemas] = await Promise.all([
    registerSchemas(config.SCHEMA_REGISTRY_URL, MESSAGE_TYPES),
    migrateAll(config),
    prepareBroker(config, access),
  ]);
  for (const { schema, mechanisms } of schemasOfInstallation(config)) {
    if (!mechanisms.includes('message-schemas')) continue;
    await storeSchemasIn({ adminUrl: config.ADMIN_DATABASE_URL, schema }, messageSchemas);
  }
  return messageSchemas;
}

/** Rights come first: a service that finds a topic may use it. */
async function prepareBroker(config: DeployConfig, access: BrokerAccess): Promise<void> {
  const client = {
    ...access,
    clientId: 'deploy',
    logger: createLogger('deploy', 'warn'),
  };
  const prefix = config.KAFKA_TOPIC_PREFIX;
  if (config.KAFKA_ACLS === 'write' && config.KAFKA_SECURITY !== 'plaintext') {
    const principals = [...ServiceName.options, 'tools'].map((name) => `User:${name}`);
    const tools = config.NODE_ENV !== 'production';
    const names = brokerNames(prefix);
    await syncAcls({ ...client, names, principals }, brokerAcls({ prefix, tools }));
  }
  await createTopics({
    ...client,
    replicationFactor: config.KAFKA_REPLICATION_FACTOR,
    minInsyncReplicas: config.KAFKA_MIN_INSYNC_REPLICAS,
    topicPrefix: prefix,
  });
}

/** Services may only read them. */
export async function storeSchemasIn(
  { adminUrl, schema }: { adminUrl: string; schema: string },
  messageSchemas: readonly MessageSchema[],
): Promise<void> {
  await using db = createPool({ url: adminUrl, applicationName: 'deploy', max: 1 });
  await db.transaction(async (tx) => {
    await tx.query(sql`select set_config('search_path', ${schema}, true)`);
    await storeMessageSchemas(tx, messageSchemas);
  });
}

async function migrateAll(config: DeployConfig): Promise<void> {
  const { ADMIN_DATABASE_URL: adminUrl } = config;
  for (const { schema, mechanisms, migrationsDir } of schemasOfInstallation(config)) {
    const password = config[passwordSetting(schema)];
    assert(password !== undefined, `a role without a password: ${schema}`);
    await migrateSchema({ adminUrl, schema, mechanisms, migrationsDir, password });
  }
}
