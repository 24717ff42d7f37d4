import { chownSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { serverEnvironment } from '../inherited-environment.ts';
import { STAGES } from '../supervisor/child-spec.ts';
import type { BootDeps } from './infra-provider.ts';
import { archiveSettings } from './postgres-archive.ts';
import { preparePostgresAccess } from './postgres-access.ts';
import { findUnprivilegedAccount } from './postgres-account.ts';
import { type PostgresFiles, preparePostgresFiles } from './postgres-files.ts';
import { clearPostgresLeftovers, readPostmasterPid } from './postgres-leftovers.ts';

const SUPERUSER = 'postgres';
const INITDB_LIMIT_MS = 60_000;
const READY_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 8_000;
const CONNECT_LIMIT_MS = 2_000;

/**
 * Enough connections for four processes of every service (`connection-budget.ts`) and for tests that run beside them.
 * At 2,000 deliveries a second a minute between two vacuums is 120,000 dead rows of the queue, which every fetch pays for.
 */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '600',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  autovacuum_naptime: '15s',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
  timezone: 'UTC',
};

/**
 * For databases that a power cut may take. A killed process loses nothing: what it wrote is the kernel's. Copies of
 * databases are files that are copied and not pages that are logged.
 */
const THROWAWAY_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

/** Starts Postgres on its own data folder, created on first use; answers the superuser's URL. */
export async function startPostgres(
  deps: BootDeps,
  input: {
    home: string;
    port: number;
    isThrowaway?: boolean | undefined;
    /** Of a replica beside the cluster: its folder, laid out by the caller. */
    replica?: string;
    /** What names the archive of the WAL. */
    environment?: NodeJS.ProcessEnv;
  },
): Promise<string> {
  const { supervisor, log } = deps;
  const prepared = preparePostgresFiles(input.home, findUnprivilegedAccount(), log);
  const files = { ...prepared, dataFolder: input.replica ?? prepared.dataFolder };
  if (!existsSync(files.dataFolder)) await createCluster(deps, files);
  const access = preparePostgresAccess({ home: input.home, files, log }, () => {
    const { postgres: pid } = supervisor.pids();
    if (pid !== undefined) process.kill(pid, 'SIGHUP');
  });
  supervisor.onStop(async () => access[Symbol.asyncDispose]());
  const settings = {
    ...SETTINGS,
    ...access.settings,
    ...(input.isThrowaway ? THROWAWAY_SETTINGS : archiveSettings(files.owner, input.environment)),
  };
  const url = (database: string) =>
    `postgres://${SUPERUSER}:${files.password}@127.0.0.1:${input.port}/${database}`;
  await supervisor.start({
    name: 'postgres',
    command: files.postgres,
    args: ['-D', files.dataFolder, '-p', String(input.port), ...argumentsOf(settings)],
    env: { ...serverEnvironment(), LC_ALL: 'C' },
    cwd: dirname(files.dataFolder),
    owner: files.owner,
    stage: STAGES.postgres,
    // Fast shutdown: ends sessions instead of waiting for them.
    stopSignal: 'SIGINT',
    stopLimitMs: STOP_LIMIT_MS,
    readyLimitMs: READY_LIMIT_MS,
    prepare: async () => {
      await clearPostgresLeftovers(files.dataFolder);
      access.write();
    },
    isReady: async (run) =>
      readPostmasterPid(files.dataFolder) === run.pid && answersQuery(url('postgres')),
  });
  return url('postgres');
}

/** True when a query succeeds. */
export async function answersQuery(url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Built beside its place and renamed when whole, so that an interrupted initdb leaves no half cluster. */
async function createCluster({ supervisor, log }: BootDeps, files: PostgresFiles): Promise<void> {
  log.line('creating the Postgres cluster');
  const draft = `${files.dataFolder}.draft`;
  const passwordFile = join(dirname(files.dataFolder), 'password');
  rmSync(draft, { recursive: true, force: true });
  writeFileSync(passwordFile, files.password, { mode: 0o600 });
  if (files.owner) chownSync(passwordFile, files.owner.uid, files.owner.gid);
  try {
    await supervisor.run({
      name: 'initdb',
      command: files.initdb,
      args: [
        `--pgdata=${draft}`,
        `--username=${SUPERUSER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--no-sync',
      ],
      env: { ...serverEnvironment(), LC_ALL: 'C' },
      cwd: dirname(files.dataFolder),
      owner: files.owner,
      limitMs: INITDB_LIMIT_MS,
    });
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(draft, files.dataFolder);
}

function argumentsOf(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
