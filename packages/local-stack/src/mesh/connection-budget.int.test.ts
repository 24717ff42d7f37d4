import { testInfra } from '@pixmesh/testkit/test-infra';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';

import { withDatabase } from '../infra/postgres-databases.ts';
import { requireConnections } from './connection-budget.ts';
import { SCALABLE } from './scale.ts';

const ONE_OF_EACH = new Map(SCALABLE.map(({ name }) => [name, 1]));

beforeEach(() => {
  vi.stubEnv('POSTGRES_URL', '');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test('one process of every service fits into the Postgres of the stack', async () => {
  await requireConnections(ONE_OF_EACH, testInfra().postgresUrl);
});

test('one process of every service is refused where Postgres has too few connections', async () => {
  vi.stubEnv('DATABASE_POOL_SIZE', '300');
  await expect(requireConnections(ONE_OF_EACH, testInfra().postgresUrl)).rejects.toThrow(
    'too many processes for Postgres',
  );
});

test('sessions in other databases are counted where Postgres is given, and only there', async () => {
  const { postgresUrl } = testInfra();
  vi.stubEnv('DATABASE_POOL_SIZE', '300');
  const other = new pg.Client({ connectionString: withDatabase(postgresUrl, 'template1') });
  onTestFinished(() => other.end());
  await other.connect();
  const refusal = () => requireConnections(ONE_OF_EACH, postgresUrl).catch(String);
  expect(await refusal()).toMatch(/leaves \d+$/);
  vi.stubEnv('POSTGRES_URL', postgresUrl);
  expect(await refusal()).toMatch(/leaves \d+ beside [1-9]\d* of other databases$/);
});
