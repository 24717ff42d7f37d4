import { join } from 'node:path';

import type { IdentityName } from '@pixmesh/contracts/internal/identities';
import { accessOfFolder, type BrokerAccess } from '@pixmesh/kafka/broker-access';
import type { RedisUser } from '@pixmesh/contracts/internal/redis-rights';
import { inject } from 'vitest';

/** Where the shared infrastructure of a test run listens. */
export type TestInfra = {
  /** Superuser URL of the server. */
  postgresUrl: string;
  /** The server for service roles, who put in their user and password. */
  postgresServiceUrl: string;
  kafkaBrokers: string[];
  registryUrl: string;
  redis: {
    /** By user: a service, or `tools`, who may do everything. */
    urls: Readonly<Record<RedisUser, string>>;
    /** File of the authority by which its certificate is verified, where it takes TLS. */
    caFile: string | undefined;
  };
  /** Folder in which the authority of the run and its identities stand. */
  home: string;
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

/** Where the certificate of a service, of the deploy job, of `tools` or of the broker stands (`MESH_TLS_DIR`). */
export function testIdentityFolder(name: IdentityName | 'kafka'): string {
  return join(testInfra().home, 'identities', name);
}

/** Begins the name of every topic and group of a test. */
export const TEST_TOPIC_PREFIX = 'test-';

/** The broker as one of its principals reaches it; `tools` may read and write everything. */
export function testBroker(name: IdentityName = 'tools'): BrokerAccess {
  return accessOfFolder(testInfra().kafkaBrokers, testIdentityFolder(name));
}

/** Password of every service role in tests. */
export const TEST_PASSWORD = 'test';
/** Databases with migrations applied, one a schema and one with all of them; tests get clones. */
export function templateDatabase(schema: string): string {
  return `${process.env['PIXMESH_TEMPLATE_DATABASE'] ?? 'pixmesh_template'}_${schema}`;
}

/** In the place of a schema: every schema of the mesh. */
export const ALL_SCHEMAS = 'all';
