import { rmSync } from 'node:fs';

import { startInfra } from '@pixmesh/local-stack/infra/start-infra';
import { migrateSchema } from '@pixmesh/postgres/migrate';
import {
  ALL_SCHEMAS,
  templateDatabase,
  TEST_PASSWORD,
  type TestInfra,
} from '@pixmesh/testkit/test-infra';
import pg from 'pg';
import type { TestProject } from 'vitest/node';

import { prepareInstallation, storeSchemasIn } from '../../deploy/prepare-installation.ts';
import { schemasToMigrate } from '../../deploy/schemas-of-services.ts';

const HOME = '.pixmesh-test';

/** Real Postgres, Kafka, registry and Redis for the whole `int` ring, and migrated template databases. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Topics of earlier runs would slow the broker down more and more.
  rmSync(HOME, { recursive: true, force: true });
  const infra = await startInfra({ home: HOME, mode: 'from-environment', isThrowaway: true });
  const shared: TestInfra = { ...infra.urls, home: infra.home };
  await prepareTemplates(shared);
  project.provide('infra', shared);
  return () => infra.stop();
}

/** A template a schema, and one with all of them beside topics and message schemas, all at once. */
async function prepareTemplates(infra: TestInfra): Promise<void> {
  const schemas = schemasToMigrate();
  const templates = [ALL_SCHEMAS, ...schemas.map(({ schema }) => schema)].map(templateDatabase);
  await createEmpty(infra, templates);
  const urlOf = (schema: string) => {
    const url = new URL(infra.postgresUrl);
    url.pathname = `/${templateDatabase(schema)}`;
    return url.href;
  };
  const passwords = schemas.map(({ schema }) => [
    `DATABASE_PASSWORD_${schema.toUpperCase()}`,
    TEST_PASSWORD,
  ]);
  const [messageSchemas] = await Promise.all([
    prepareInstallation({
      NODE_ENV: 'test',
      ADMIN_DATABASE_URL: urlOf(ALL_SCHEMAS),
      KAFKA_BROKERS: infra.kafkaBrokers.join(','),
      SCHEMA_REGISTRY_URL: infra.registryUrl,
      ...Object.fromEntries(passwords),
    }),
    ...schemas.map((schema) =>
      migrateSchema({ ...schema, adminUrl: urlOf(schema.schema), password: TEST_PASSWORD }),
    ),
  ]);
  for (const { schema, mechanisms } of schemas) {
    if (!mechanisms.includes('message-schemas')) continue;
    await storeSchemasIn({ adminUrl: urlOf(schema), schema }, messageSchemas);
  }
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
