import { rmSync } from 'node:fs';

import { startInfra } from '@pixmesh/local-stack/infra/start-infra';
import { TEMPLATE_DATABASE, TEST_PASSWORD, type TestInfra } from '@pixmesh/testkit/test-infra';
import pg from 'pg';
import type { TestProject } from 'vitest/node';

import { prepareInstallation } from '../../deploy/prepare-installation.ts';
import { schemasToMigrate } from '../../deploy/schemas-of-services.ts';

const HOME = '.pixmesh-test';

/** Real Postgres, Kafka, registry and Redis for the whole `int` ring, and a migrated template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Topics of earlier runs would slow the broker down more and more.
  rmSync(HOME, { recursive: true, force: true });
  const infra = await startInfra({ home: HOME, mode: 'from-environment' });
  const shared: TestInfra = infra.urls;
  await prepareTemplate(shared);
  project.provide('infra', shared);
  return () => infra.stop();
}

async function prepareTemplate(infra: TestInfra): Promise<void> {
  const server = new pg.Client({ connectionString: infra.postgresUrl });
  await server.connect();
  await server.query(`drop database if exists ${TEMPLATE_DATABASE} with (force)`);
  await server.query(`create database ${TEMPLATE_DATABASE}`);
  await server.end();
  const templateUrl = new URL(infra.postgresUrl);
  templateUrl.pathname = `/${TEMPLATE_DATABASE}`;
  const passwords = schemasToMigrate().map(({ schema }) => [
    `DATABASE_PASSWORD_${schema.toUpperCase()}`,
    TEST_PASSWORD,
  ]);
  await prepareInstallation({
    ADMIN_DATABASE_URL: templateUrl.href,
    KAFKA_BROKERS: infra.kafkaBrokers.join(','),
    SCHEMA_REGISTRY_URL: infra.registryUrl,
    ...Object.fromEntries(passwords),
  });
}
