import { rmSync } from 'node:fs';
import path from 'node:path';

import type { AclOperation } from '@pixmesh/contracts/internal/broker-rights';
import { addAcls } from '@pixmesh/kafka/acls';
import { accessOfFolder } from '@pixmesh/kafka/broker-access';
import { identityFolder } from '@pixmesh/local-stack/infra/identities';
import { readGivenUrls } from '@pixmesh/local-stack/infra/boot-infra';
import { withDatabase, withUser } from '@pixmesh/local-stack/infra/postgres-databases';
import { startInfra } from '@pixmesh/local-stack/infra/start-infra';
import { readHome } from '@pixmesh/local-stack/repository';
import { migrateSchema } from '@pixmesh/postgres/migrate';
import { createLogger } from '@pixmesh/telemetry/logger';
import { OWNER_ROLE, prepareOwner } from '@pixmesh/postgres/owner-role';
import {
  ALL_SCHEMAS,
  templateDatabase,
  TEST_PASSWORD,
  TEST_TOPIC_PREFIX,
  type TestInfra,
} from '@pixmesh/testkit/test-infra';
import pg from 'pg';
import type { TestProject } from 'vitest/node';

import { prepareInstallation, storeSchemasIn } from '../../deploy/prepare-installation.ts';
import { schemasToMigrate } from '../../deploy/schemas-of-services.ts';
import { throwawayHome, throwawayHomes } from './throwaway-home.ts';

/** Real Postgres, Kafka, registry and Redis for the whole `int` ring, and migrated template databases. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // What runs already knows the identities of its own home.
  const isOwn = !readGivenUrls();
  // Topics of earlier runs would slow the broker down more and more, and their data takes memory.
  if (isOwn)
    for (const former of throwawayHomes()) rmSync(former, { recursive: true, force: true });
  const home = isOwn ? throwawayHome() : readHome();
  const infra = await startInfra({ home, mode: 'from-environment', isThrowaway: true });
  const shared: TestInfra = { ...infra.urls, home: infra.home };
  await prepareTemplates(shared);
  project.provide('infra', shared);
  return async () => {
    await infra.stop();
    if (isOwn) rmSync(path.join(home, 'data'), { recursive: true, force: true });
  };
}

/** A template a schema, and one with all of them beside topics and message schemas, all at once. */
async function prepareTemplates(infra: TestInfra): Promise<void> {
  const schemas = schemasToMigrate();
  const templates = [ALL_SCHEMAS, ...schemas.map(({ schema }) => schema)].map(templateDatabase);
  await createEmpty(infra, templates);
  const urlOf = (schema: string) => {
    const url = withDatabase(infra.postgresServiceUrl, templateDatabase(schema));
    return withUser(url, { role: OWNER_ROLE, password: TEST_PASSWORD });
  };
  const all = schemas.map(({ schema }) => schema);
  for (const template of templates) {
    const adminUrl = withDatabase(infra.postgresUrl, template);
    await prepareOwner({ adminUrl, password: TEST_PASSWORD, schemas: all });
  }
  const passwords = schemas.map(({ schema }) => [
    `DATABASE_PASSWORD_${schema.toUpperCase()}`,
    TEST_PASSWORD,
  ]);
  const [messageSchemas] = await Promise.all([
    prepareInstallation({
      NODE_ENV: 'test',
      ADMIN_DATABASE_URL: urlOf(ALL_SCHEMAS),
      KAFKA_BROKERS: infra.kafkaBrokers.join(','),
      MESH_TLS_DIR: identityFolder(infra.home, 'deploy'),
      SCHEMA_REGISTRY_URL: infra.registryUrl,
      ...Object.fromEntries(passwords),
    }),
    ...schemas.map((schema) =>
      migrateSchema({ ...schema, adminUrl: urlOf(schema.schema), password: TEST_PASSWORD }),
    ),
  ]);
  await letToolsUseTestTopics(infra);
  for (const { schema, mechanisms } of schemas) {
    if (!mechanisms.includes('message-schemas')) continue;
    await storeSchemasIn({ adminUrl: urlOf(schema), schema }, messageSchemas);
  }
}

/** Tests speak as `tools`, in the place of any service. */
async function letToolsUseTestTopics(infra: TestInfra): Promise<void> {
  const rightOf = (resource: 'topic' | 'group') => (operation: AclOperation) => ({
    principal: 'User:tools' as const,
    operation,
    resource,
    name: TEST_TOPIC_PREFIX,
    match: 'prefixed' as const,
  });
  const topics = (['read', 'write', 'describe_configs'] as const).map(rightOf('topic'));
  const broker = accessOfFolder(infra.kafkaBrokers, identityFolder(infra.home, 'deploy'));
  const client = { ...broker, clientId: 'testkit', logger: createLogger('testkit', 'silent') };
  await addAcls(client, [...topics, rightOf('group')('read')]);
}

async function createEmpty(infra: TestInfra, names: readonly string[]): Promise<void> {
  const server = new pg.Client({ connectionString: infra.postgresUrl });
  await server.connect();
  for (const name of names) {
    await server.query(`drop database if exists ${name} with (force)`);
    await server.query(`create database ${name}`);
  }
  await server.end();
}
