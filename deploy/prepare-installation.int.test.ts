import { randomBytes } from 'node:crypto';

import { withDatabase } from '@pixmesh/local-stack/infra/postgres-databases';
import { TEST_PASSWORD, testIdentityFolder, testInfra } from '@pixmesh/testkit/test-infra';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { prepareInstallation } from './prepare-installation.ts';
import { passwordSetting, schemasOfInstallation } from './schemas-of-services.ts';

const NAME = `test_${randomBytes(6).toString('hex')}`;
let url: string;

beforeAll(async () => {
  await run(testInfra().postgresUrl, `create database ${NAME}`);
  url = withDatabase(testInfra().postgresUrl, NAME);
});
afterAll(() => run(testInfra().postgresUrl, `drop database if exists ${NAME} with (force)`));

test('in production the deploy job makes the schema of each service, and nothing for the acquirer simulator', async () => {
  const { kafkaBrokers, registryUrl } = testInfra();
  const passwords = schemasOfInstallation({ NODE_ENV: 'production' }).map(({ schema }) => [
    passwordSetting(schema),
    // Roles belong to the server that all tests share.
    TEST_PASSWORD,
  ]);
  const registered = await prepareInstallation({
    // The servers of tests are on this machine.
    PIXMESH_ALLOW_PLAINTEXT: 'postgres,registry',
    ADMIN_DATABASE_URL: url,
    KAFKA_BROKERS: kafkaBrokers.join(','),
    KAFKA_TOPIC_PREFIX: `${NAME}-`,
    // So do rights at the broker.
    KAFKA_ACLS: 'skip',
    MESH_TLS_DIR: testIdentityFolder('deploy'),
    SCHEMA_REGISTRY_URL: registryUrl,
    ...Object.fromEntries(passwords),
  });
  expect(registered.length).toBeGreaterThan(0);
  const made = await run(
    url,
    "select nspname from pg_namespace where nspname !~ '^(pg_|information_schema|public)' order by nspname",
  );
  expect(made.map(({ nspname }) => nspname)).toEqual([
    'charges',
    'gateway',
    'ledger',
    'payouts',
    'webhook_dispatcher',
  ]);
});

async function run(server: string, statement: string): Promise<{ nspname: string }[]> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    return (await client.query<{ nspname: string }>(statement)).rows;
  } finally {
    await client.end();
  }
}
