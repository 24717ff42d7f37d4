import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { testInfra } from '@pixmesh/testkit/test-infra';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';

import { noProgress } from '../progress.ts';
import { aHome } from '../supervisor/stand-in.ts';
import { createSupervisor } from '../supervisor/supervisor.ts';
import { bootMesh } from './boot-mesh.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('a scale that Postgres has too few connections for is refused before any service or the deploy job was started', async () => {
  const { kafkaBrokers, registryUrl, redis } = testInfra();
  vi.stubEnv('POSTGRES_URL', '');
  vi.stubEnv('KAFKA_BROKERS', kafkaBrokers.join(','));
  vi.stubEnv('SCHEMA_REGISTRY_URL', registryUrl);
  vi.stubEnv('REDIS_URL', redis.urls.tools);
  vi.stubEnv('REDIS_TLS_CA_FILE', redis.caFile ?? '');
  vi.stubEnv('DATABASE_POOL_SIZE', '300');
  const home = aHome();
  const supervisor = await createSupervisor({ home, log: noProgress });
  onTestFinished(() => supervisor.stop());
  const boot = bootMesh({
    supervisor,
    log: noProgress,
    mode: 'processes',
    scale: new Map(),
    observe: false,
    otlpEndpoint: undefined,
  });
  await expect(boot).rejects.toThrow('too many processes for Postgres');
  expect(supervisor.names()).toEqual(['postgres']);
  const logs = readdirSync(join(home, 'logs'));
  expect(logs.sort()).toEqual(['guardian.log', 'initdb.log', 'postgres.log']);
});
