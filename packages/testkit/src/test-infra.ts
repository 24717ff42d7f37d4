import { inject } from 'vitest';

/** Where the shared infrastructure of a test run listens. */
export type TestInfra = {
  /** Superuser URL of the server. */
  postgresUrl: string;
  kafkaBrokers: string[];
  registryUrl: string;
  redisUrl: string;
};

declare module 'vitest' {
  interface ProvidedContext {
    infra: TestInfra;
  }
}

/** The infrastructure that the run's global setup booted. */
export function testInfra(): TestInfra {
  return inject('infra');
}

/** Password of every service role in tests. */
export const TEST_PASSWORD = 'test';
/** Database with every migration applied; each test file gets a clone. */
export const TEMPLATE_DATABASE = process.env['PIXMESH_TEMPLATE_DATABASE'] ?? 'pixmesh_template';
