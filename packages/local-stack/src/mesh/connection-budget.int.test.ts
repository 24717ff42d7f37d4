import { testInfra } from '@pixmesh/testkit/test-infra';
import { afterEach, expect, test, vi } from 'vitest';

import { requireConnections } from './connection-budget.ts';
import { SCALABLE } from './scale.ts';

const ONE_OF_EACH = new Map(SCALABLE.map(({ name }) => [name, 1]));

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
