import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { ConfigError, readConfig } from '@pixmesh/service/config';
import { issueIdentities } from '@pixmesh/local-stack/infra/identities';
import {
  createDatabases,
  withDatabase,
  withVerifiedTls,
} from '@pixmesh/local-stack/infra/postgres-databases';
import { startPostgres } from '@pixmesh/local-stack/infra/postgres-process';
import { allocatePorts } from '@pixmesh/local-stack/ports/allocate-ports';
import type { Progress } from '@pixmesh/local-stack/progress';
import { createSupervisor } from '@pixmesh/local-stack/supervisor/supervisor';
import { migrateSchema } from '@pixmesh/postgres/migrate';

import { AcquirerSimulatorConfig } from '#config.ts';
import { type AcquirerSimulator, startAcquirerSimulator } from '#service.ts';

import { type CertificateFiles, keepCertificates } from './keep-certificates.ts';

/** The simulator with everything that it needs, for whoever develops against API Pix without the mesh. */
export type Alone = AsyncDisposable & {
  simulator: AcquirerSimulator;
  config: AcquirerSimulatorConfig;
  certificates: CertificateFiles;
};

const DATABASE = 'acquirer_simulator';
const SCHEMA = 'acquirer_simulator';
const MIGRATIONS_DIR = fileURLToPath(new URL('../../migrations', import.meta.url));

/** Each of them can be set in the environment. */
const DEFAULTS = {
  PORT: '4010',
  RECEIVER_PORT: '4011',
  INTERNAL_PORT: '4012',
  TLS_PORT: '4013',
  ACQUIRER_CLIENT_ID: 'client',
  ACQUIRER_CLIENT_SECRET: 'secret',
  ACQUIRER_PIX_KEY: 'pix@example.com',
  LOG_LEVEL: 'warn',
};

type Input = { home: string; log: Progress; env: NodeJS.ProcessEnv; database?: string };

/** As the deploy job names it: the role belongs to the whole server, which may serve a mesh too. */
const PASSWORD_VARIABLE = 'DATABASE_PASSWORD_ACQUIRER_SIMULATOR';

/**
 * Starts Postgres from its npm package, unless `POSTGRES_URL` names a superuser of another one, migrates the
 * simulator's schema and starts the simulator with certificates of its own. Data and certificates stay in `home`.
 */
export async function startAlone(input: Input): Promise<Alone> {
  await using resources = new AsyncDisposableStack();
  const server = await findPostgres(input, resources);
  const database = input.database ?? DATABASE;
  await createDatabases(server, [database]);
  const adminUrl = withDatabase(server, database);
  const password = input.env[PASSWORD_VARIABLE] || randomBytes(16).toString('hex');
  const migrated = { adminUrl, password, schema: SCHEMA, mechanisms: [] };
  await migrateSchema({ ...migrated, migrationsDir: MIGRATIONS_DIR });
  const certificates = await keepCertificates(`${input.home}/certificates`);
  const config = readConfig(AcquirerSimulatorConfig, {
    ...DEFAULTS,
    TLS_CERT_FILE: certificates.serverCert,
    TLS_KEY_FILE: certificates.serverKey,
    TLS_CA_FILE: certificates.ca,
    ...withoutEmpty(input.env),
    // Whatever the shell says of other programs.
    NODE_ENV: 'development',
    DATABASE_URL: withRole(adminUrl, password),
  });
  const simulator = resources.use(await startAcquirerSimulator(config));
  const kept = resources.move();
  return {
    simulator,
    config,
    certificates,
    [Symbol.asyncDispose]: async () => await kept.disposeAsync(),
  };
}

/** The superuser's URL of the given server, or of one that is started here and ends with this process. */
async function findPostgres(
  { home, log, env }: Input,
  resources: AsyncDisposableStack,
): Promise<string> {
  const given = env['POSTGRES_URL'];
  if (given) {
    if (URL.canParse(given)) return given;
    throw new ConfigError('POSTGRES_URL: expected a postgres:// URL');
  }
  const ports = await allocatePorts(['postgres']);
  resources.defer(ports.release);
  const supervisor = await createSupervisor({ home, log });
  resources.defer(async () => await supervisor.stop());
  await issueIdentities(home);
  const url = await startPostgres({ supervisor, log }, { home, port: ports.of('postgres') });
  return withVerifiedTls(url, home);
}

function withRole(adminUrl: string, password: string): string {
  const url = new URL(adminUrl);
  url.username = `pixmesh_${SCHEMA}`;
  url.password = password;
  return url.href;
}

/** An empty variable counts as unset, as everywhere. */
function withoutEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value));
}
